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
