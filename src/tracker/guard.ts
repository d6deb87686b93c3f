/** Calls a function. What it throws must not reach the shop's page: then the result is undefined. */
export function attempt<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

/** A random id of 128 bits. `crypto.randomUUID` is missing on pages without TLS. */
export function randomId(): string {
  return [...crypto.getRandomValues(new Uint32Array(4))].map((part) => part.toString(36)).join("");
}

/** A text of 1 to 255 characters, as the service takes ids; undefined for anything else. */
export function idOf(value: unknown): string | undefined {
  const text = typeof value === "number" ? `${value}` : value;
  return typeof text === "string" && text.trim() !== "" && text.length < 256 ? text : undefined;
}
