/** Draws from a list of random numbers; once they are used up, always the first choice. */
export class Choices {
  #at = 0;
  constructor(readonly numbers: readonly number[]) {}

  upTo(count: number): number {
    const number = this.numbers[this.#at] ?? 0;
    this.#at += 1;
    return number % count;
  }

  of<Value>(values: readonly [Value, ...Value[]]): Value {
    return values[this.upTo(values.length)] ?? values[0];
  }

  /** Once in so many times; never, once the numbers are used up. */
  oneIn(count: number): boolean {
    return this.upTo(count) === count - 1;
  }
}
