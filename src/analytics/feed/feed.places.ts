import { AppError } from "../../errors.js";

/** Places for watchers: so many in all, and so many for the shows of a store, so that none takes the places of others. */
export class Places {
  readonly #max: number;
  readonly #ofStoreMax: number;
  readonly #byStore = new Map<string, number>();
  taken = 0;

  constructor(max: number, ofStoreMax: number) {
    this.#max = max;
    this.#ofStoreMax = ofStoreMax;
  }

  /** @throws {AppError} UNAVAILABLE where none is free */
  take(storeId: string): void {
    if (this.taken >= this.#max || (this.#byStore.get(storeId) ?? 0) >= this.#ofStoreMax) {
      throw new AppError("UNAVAILABLE", "Too many open subscriptions.", { retryAfterSeconds: 10 });
    }
    this.#count(storeId, 1);
  }

  free(storeId: string): void {
    this.#count(storeId, -1);
  }

  #count(storeId: string, change: 1 | -1): void {
    this.taken += change;
    const ofStore = (this.#byStore.get(storeId) ?? 0) + change;
    if (ofStore > 0) this.#byStore.set(storeId, ofStore);
    else this.#byStore.delete(storeId);
  }
}
