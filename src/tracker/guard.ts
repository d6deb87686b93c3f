/**
 * An error must not reach the shop's page: the result is undefined instead.
 *
 * @param about is said in the console with what failed, where the page is to know
 */
export function attempt<Result>(work: () => Result, ...about: readonly unknown[]): Result | undefined {
  try {
    return work();
  } catch {
    if (about.length) warn(...about);
    return undefined;
  }
}

/** Listens to an event of the window, or of anything in its page, also if it does not bubble. No error reaches the page. */
export function on(name: string, work: () => unknown): void {
  addEventListener(name, () => attempt(work), true);
}

/** The value without the `toJSON` that old libraries give to prototypes, which makes texts of lists. */
export function plain<Value extends object>(value: Value): Value {
  return Object.defineProperty(value, "toJSON", {});
}

/**
 * A UUID of version 7 (RFC 9562, section 5.7): milliseconds, then 72 random bits. The service stores UUIDs in 16 bytes, and
 * those that begin with the time share pages of its indexes. `crypto.randomUUID` gives version 4, and only on pages with TLS.
 */
export function newId(): string {
  // The time has 11 digits until the year 2527.
  return `0${Date.now().toString(16)}-7xxx-8xxx-xxxxxxxxxxxx`
    .replace(/.{8}/u, "$&-")
    .replace(/x/gu, () => Math.random().toString(16)[2] as string); // ids are no secrets
}

/** 1 to 255 characters, as the service takes ids; undefined for anything else. */
export function idOf(value: unknown): string | undefined {
  const text = Number.isFinite(value) ? `${value as number}` : value;
  return typeof text === "string" && text.trim() && text.length < 256 ? text : undefined;
}

/** What a page must give. @throws where it did not */
export function must<Value>(value: Value | undefined | null | false): Value {
  if (!value) throw new Error();
  return value;
}

/** What pages send in place of an id by mistake. The service refuses these and more. */
const nobody = /^(?:nan|undefined|null|\[object.*|guest|anonymous|0)$/iu;

/** The id of a viewer or an order; undefined for one that identifies none. */
export function realIdOf(value: unknown): string | undefined {
  const id = idOf(value);
  return id && nobody.test(id.trim()) ? undefined : id;
}

let isOn = false;

export function startLog(): void {
  isOn = true;
}

/** Says in the console what is counted, sent and kept, and why not, once a page has asked for it. */
export function log(...about: readonly unknown[]): void {
  // oxlint-disable-next-line no-console
  if (isOn) console.info("vitrine:", ...about);
}

/** Says in the console what of a page is not used, also unasked. */
export function warn(...about: readonly unknown[]): void {
  // oxlint-disable-next-line no-console
  console.warn("vitrine: ignored", ...about);
}
