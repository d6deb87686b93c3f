/** An error must not reach the shop's page: the result is undefined instead. */
export function attempt<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

/** Listens to an event of the window, or of anything in its page, also if it does not bubble. No error reaches the page. */
export function on(name: string, work: () => unknown): void {
  addEventListener(name, () => attempt(work), true);
}

/**
 * A UUID of version 7 (RFC 9562, section 5.7): milliseconds, then 72 random bits. The service stores UUIDs in 16 bytes, and
 * those that begin with the time share pages of its indexes. `crypto.randomUUID` gives version 4, and only on pages with TLS.
 */
export function newId(): string {
  const time = Date.now().toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7xxx-8xxx-xxxxxxxxxxxx`.replace(/x/gu, () =>
    ((crypto.getRandomValues(new Uint8Array(1))[0] as number) % 16).toString(16),
  );
}

/** 1 to 255 characters, as the service takes ids; undefined for anything else. */
export function idOf(value: unknown): string | undefined {
  const text = Number.isFinite(value) ? `${value as number}` : value;
  return typeof text === "string" && text.trim() && text.length < 256 ? text : undefined;
}

/** What pages send in place of an id by mistake. The service refuses these and more. */
const nobody = /^(?:nan|undefined|null|\[object.*|guest|anonymous|0)$/iu;

/** The id of a viewer or an order; undefined for one that identifies none. */
export function realIdOf(value: unknown): string | undefined {
  const id = idOf(value);
  return id && nobody.test(id.trim()) ? undefined : id;
}
