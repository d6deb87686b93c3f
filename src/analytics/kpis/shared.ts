const sharedByOwner = new WeakMap<object, Map<string, Promise<unknown>>>();

/**
 * Caches a query's result with an object for all who hold it. Failures are not cached.
 *
 * @param key names the query and its arguments; the same key must always mean the same type
 */
export function shared<Value>(owner: object, key: string, read: () => Promise<Value>): Promise<Value> {
  const known = sharedByOwner.get(owner) ?? new Map<string, Promise<unknown>>();
  sharedByOwner.set(owner, known);
  const found = known.get(key) as Promise<Value> | undefined;
  if (found !== undefined) return found;
  const reading = read();
  known.set(key, reading);
  reading.catch(() => known.delete(key));
  return reading;
}
