import { LRUCache } from "lru-cache";

interface Entry<Value> {
  readonly until: number;
  readonly loading: Promise<Value>;
  isLoaded: boolean;
}

/**
 * Loads values by key. Equal calls share a value for `ms` from the start of its loading, even while it loads. Failures and undefined are
 * not kept. Keeps the `max` keys that were used last.
 */
export class CachedFor<Value> {
  readonly #entries: LRUCache<string, Entry<Value>>;

  constructor(
    private readonly ms: number,
    max: number,
  ) {
    this.#entries = new LRUCache({ max });
  }

  /** @param waits false for a caller that holds a connection, because another caller's load might wait for that connection */
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
 * Makes a value once for everyone who holds an object. A promise that fails is not kept.
 *
 * @param key names the value and what it depends on; a key must always have the same type of value
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
