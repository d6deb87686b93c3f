import type { Database, RootDatabase } from "../../database/client.js";
import { compareOrders, type Difference } from "./differences.js";
import { type FileOrder, isPaid, newsOf } from "./readOrder.js";
import { batchesOf, type OrderFile, withOrderFile } from "./openOrderFile.js";

export interface Reconciliation {
  /** Paid orders of the file. */
  readonly orders: number;
  readonly matching: number;
  /** The first 1,000. */
  readonly differences: readonly Difference[];
  readonly differencesTotal: number;
}

const pageOrders = 500;
const differencesMax = 1_000;
/** Ids are remembered, to find orders that the file lacks. */
const idsMax = 2_000_000;

/**
 * Compares the orders of a shop's export with the known ones. Finds orders that are missing here, orders of its time that the file lacks,
 * orders that count here but are unpaid or cancelled in the file, and different amounts.
 *
 * @throws {AppError} VALIDATION_FAILED naming the line
 */
export function reconcile(db: RootDatabase, storeId: string, path: string): Promise<Reconciliation> {
  return withOrderFile(db, storeId, path, (file) => new Comparison(db, storeId).compare(file));
}

class Comparison {
  readonly #differences: Difference[] = [];
  #total = 0;
  #orders = 0;
  #matching = 0;
  readonly #ids = new Set<string>();
  #from = Infinity;
  #until = -Infinity;

  constructor(
    private readonly db: RootDatabase,
    private readonly storeId: string,
  ) {}

  async compare(file: OrderFile): Promise<Reconciliation> {
    for await (const batch of batchesOf(file)) {
      for (const item of batch) this.#note(item);
      await this.#compareBatch(batch);
    }
    for await (const id of idsBetween(this.db, this.storeId, this.#from, this.#until)) {
      if (this.#ids.has(id)) continue;
      this.#differ({ kind: "unknown", id, line: null, message: "It is known here, and not in the file." });
    }
    return {
      orders: this.#orders,
      matching: this.#matching,
      differences: this.#differences,
      differencesTotal: this.#total,
    };
  }

  #note(item: FileOrder): void {
    const { id, placedAt } = item.order;
    if (this.#ids.size < idsMax) this.#ids.add(id);
    if (!isPaid(item)) return;
    this.#orders += 1;
    this.#from = Math.min(this.#from, placedAt.getTime());
    this.#until = Math.max(this.#until, placedAt.getTime());
  }

  async #compareBatch(batch: readonly FileOrder[]): Promise<void> {
    const news = await newsOf(this.db, this.storeId, batch);
    const found = await compareOrders(this.db, this.storeId, batch, news);
    for (const [index, item] of batch.entries()) {
      const difference = found[index];
      if (difference !== undefined) this.#differ(difference);
      else if (isPaid(item)) this.#matching += 1;
    }
  }

  #differ(difference: Difference): void {
    this.#total += 1;
    if (this.#differences.length < differencesMax) this.#differences.push(difference);
  }
}

async function* idsBetween(db: Database, storeId: string, from: number, until: number): AsyncGenerator<string, void> {
  if (from > until) return;
  let after = { placedAt: new Date(from), id: "" };
  for (;;) {
    const rows = await db.$queryRaw<{ id: string; placedAt: Date }[]>`
      SELECT id, "placedAt" FROM "ShopOrder" WHERE "storeId" = ${storeId} AND "isPaid" AND "placedAt" <= ${new Date(until)}::timestamptz
        AND ("placedAt", id) > (${after.placedAt}::timestamptz, ${after.id}) ORDER BY "placedAt", id LIMIT ${pageOrders}::int`;
    for (const { id } of rows) yield id;
    const last = rows.at(-1);
    if (last === undefined || rows.length < pageOrders) return;
    after = last;
  }
}
