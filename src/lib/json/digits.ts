/** A member whose value is a number, of any name of letters and "_": strings escape their quotes, so that this is in none. */
const numericMember = /"([a-z_]+)"\s*:\s*(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)/gu;

/**
 * Finds the digits of numbers as they were sent, since JavaScript has others for those that overflow or are very long. It looks for
 * members of a name one after the other, so values must be asked for in the order in which the text has them.
 */
export class SentDigits {
  /** Where the search for a name goes on. */
  readonly #places = new Map<string, number>();
  #json: string | undefined;

  /** @param read gives the valid JSON, only once a number is looked for */
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
