import { LRUCache } from "lru-cache";

interface Entry<Value> {
  readonly until: number;
  readonly loading: Promise<Value>;
  isLoaded: boolean;
}

/**
 * What was loaded by key answers equal calls for `ms` from when its loading began, also while it is loaded. What fails, or is undefined,
 * is not kept. Of more than `max` keys, those that were asked for last are.
 */
export class CachedFor<Value> {
  readonly #entries: LRUCache<string, Entry<Value>>;

  constructor(
    private readonly ms: number,
    max: number,
  ) {
    this.#entries = new LRUCache({ max });
  }

  /** @param waits false for a caller that holds a connection: the load of another one might wait for that */
  get(key: string, load: () => Promise<Value>, { waits = true }: { readonly waits?: boolean } = {}): Promise<Value> {
    const now = performance.now();
    const known = this.#entries.get(key);
    if (known !== undefined && now < known.until && (waits || known.isLoaded)) return known.loading;
    const entry = { until: now + this.ms, loading: load(), isLoaded: false };
    this.#entries.set(key, entry);
    const end = (value?: Value): void => {
      entry.isLoaded = true;
      if (value === undefined && this.#entries.peek(key) === entry) this.#entries.delete(key);
    };
    entry.loading.then(end, () => end());
    return entry.loading;
  }

  forget(key: string): void {
    this.#entries.delete(key);
  }
}

const byOwner = new WeakMap<object, Map<string, unknown>>();

/**
 * A value that is made once for all who hold an object. A promise that fails is not kept.
 *
 * @param key names the value and what it depends on; the same key must always mean the same type
 */
export function cachedWith<Value>(owner: object, key: string, make: () => Value): Value {
  let known = byOwner.get(owner);
  if (known === undefined) byOwner.set(owner, (known = new Map<string, unknown>()));
  if (known.has(key)) return known.get(key) as Value;
  const value = make();
  known.set(key, value);
  if (value instanceof Promise) value.catch(() => known.delete(key));
  return value;
}
