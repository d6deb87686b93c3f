const sharedByOwner = new WeakMap<object, Map<string, Promise<unknown>>>();

/**
 * Something that is read once for all who hold the same object, and kept for as long as that is. What fails is read anew
 * for the next one.
 *
 * @param key what is read, with the arguments that it depends on; the same key must always mean the same type
 */
export function shared<Value>(owner: object, key: string, read: () => Promise<Value>): Promise<Value> {
  const known = sharedByOwner.get(owner) ?? new Map<string, Promise<unknown>>();
  sharedByOwner.set(owner, known);
  const found = known.get(key) as Promise<Value> | undefined; // what a key stands for is of one type
  if (found !== undefined) return found;
  const reading = read();
  known.set(key, reading);
  reading.catch(() => known.delete(key));
  return reading;
}
