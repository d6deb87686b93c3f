/** An error must not reach the shop's page: the result is undefined instead. */
export function attempt<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

/**
 * A UUID of version 7 (RFC 9562, section 5.7): milliseconds, then 72 random bits. The service stores UUIDs in 16 bytes, and
 * those that begin with the time share pages of its indexes. `crypto.randomUUID` gives version 4, and only on pages with TLS.
 */
export function newId(): string {
  const bytes = [...crypto.getRandomValues(new Uint8Array(10))].map((byte) => byte.toString(16).padStart(2, "0"));
  const hex = Date.now().toString(16).padStart(12, "0") + bytes.join("");
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/u, "$1-$2-7$3-8$4-$5");
}

/** 1 to 255 characters, as the service takes ids; undefined for anything else. */
export function idOf(value: unknown): string | undefined {
  const text = typeof value === "number" ? `${value}` : value;
  return typeof text === "string" && text.trim() !== "" && text.length < 256 ? text : undefined;
}
