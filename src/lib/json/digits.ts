/** A member with a numeric value, whose name has only letters and "_". It cannot match inside a string, where quotes are escaped. */
const numericMember = /"([a-z_]+)"\s*:\s*(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)/gu;

/**
 * Finds the digits of numbers as they were sent, because JavaScript changes those that overflow or are very long. It searches
 * forwards for each name, so callers must ask for values in the order of the text.
 */
export class SentDigits {
  /** Where the search for a name goes on. */
  readonly #places = new Map<string, number>();
  #json: string | undefined;

  /** @param read returns the valid JSON; called only once a number is looked for */
  constructor(private readonly read: () => string) {}

  of(name: string, value: number): string | undefined {
    this.#json ??= this.read();
    numericMember.lastIndex = this.#places.get(name) ?? 0;
    for (let found = numericMember.exec(this.#json); found !== null; found = numericMember.exec(this.#json)) {
      this.#places.set(name, numericMember.lastIndex);
      const [, member, digits] = found;
      if (member === name && Number(digits) === value) return digits;
    }
    this.#places.set(name, this.#json.length);
    return undefined;
  }
}
