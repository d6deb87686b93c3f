/**
 * Runs work, and returns undefined if it throws, because no error may reach the shop's page.
 *
 * @param about what failed, for a warning in the console; none without it
 */
export function attempt<Result>(work: () => Result, ...about: readonly unknown[]): Result | undefined {
  try {
    return work();
  } catch {
    if (about.length) warn(...about);
    return undefined;
  }
}

/** Listens to events of the window and of all its elements, even those that do not bubble. Errors do not reach the page. */
export function on(name: string, work: () => unknown): void {
  addEventListener(name, () => attempt(work), true);
}

/** Hides the `toJSON` that old libraries add to prototypes, because it turns lists into texts. */
export function plain<Value extends object>(value: Value): Value {
  return Object.defineProperty(value, "toJSON", {});
}

/**
 * A UUID of version 7 (RFC 9562, section 5.7): milliseconds, then 72 random bits. The service stores UUIDs in 16 bytes, and
 * UUIDs that begin with the time share index pages. `crypto.randomUUID` makes version 4, and only exists on pages with TLS.
 */
export function newId(): string {
  // The time has 11 digits until the year 2527.
  return `0${Date.now().toString(16)}-7xxx-8xxx-xxxxxxxxxxxx`
    .replace(/.{8}/u, "$&-")
    .replace(/x/gu, () => Math.random().toString(16)[2] as string); // ids are not secrets
}

/** An id as the service accepts it, of 1 to 255 characters; undefined for anything else. */
export function idOf(value: unknown): string | undefined {
  const text = Number.isFinite(value) ? `${value as number}` : value;
  return typeof text === "string" && text.trim() && text.length < 256 ? text : undefined;
}

/** Returns what a page must give. @throws if it did not */
export function must<Value>(value: Value | undefined | null | false): Value {
  if (!value) throw new Error();
  return value;
}

/** Placeholders that pages send by mistake instead of an id. The service refuses these and more. */
const nobody = /^(?:nan|undefined|null|\[object.*|guest|anonymous|0)$/iu;

/** The id of a viewer or an order; undefined if it is a placeholder. */
export function realIdOf(value: unknown): string | undefined {
  const id = idOf(value);
  return id && nobody.test(id.trim()) ? undefined : id;
}

let isOn = false;

export function startLog(): void {
  isOn = true;
}

/** Logs to the console what is counted, sent and kept, or why not, if a page has asked for it. */
export function log(...about: readonly unknown[]): void {
  // oxlint-disable-next-line no-console
  if (isOn) console.info("vitrine:", ...about);
}

/** Warns in the console about what we ignore. */
export function warn(...about: readonly unknown[]): void {
  // oxlint-disable-next-line no-console
  console.warn("vitrine: ignored", ...about);
}
