/**
 * Slow consumers skip values, and nothing is buffered. Unlike a generator's, its `return` takes effect immediately while a
 * `next` is pending.
 */
export class LatestValue<Value> implements AsyncIterableIterator<Value> {
  #latest: { readonly value: Value } | undefined;
  #failure: { readonly error: unknown } | undefined;
  #waiting: { resolve(result: IteratorResult<Value>): void; reject(error: unknown): void } | undefined;
  #ended = false;
  readonly #onEnd: () => void;

  /** @param onEnd called once, however the iterator ends */
  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
  }

  get isEnded(): boolean {
    return this.#ended;
  }

  set(value: Value): void {
    if (this.#ended) return;
    if (this.#waiting === undefined) {
      this.#latest = { value };
      return;
    }
    this.#waiting.resolve({ value, done: false });
    this.#waiting = undefined;
  }

  /** Fails after the pending value. */
  fail(error: unknown): void {
    if (this.#ended) return;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting === undefined) this.#failure = { error };
    else waiting.reject(error);
    this.#end();
  }

  next(): Promise<IteratorResult<Value>> {
    const latest = this.#latest;
    const failure = this.#failure;
    if (latest !== undefined) {
      this.#latest = undefined;
      return Promise.resolve({ value: latest.value, done: false });
    }
    this.#failure = undefined;
    if (failure !== undefined) return Promise.reject(failure.error);
    if (this.#ended) return Promise.resolve({ value: undefined, done: true });
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
  }

  return(): Promise<IteratorResult<Value>> {
    this.#latest = undefined;
    this.#waiting?.resolve({ value: undefined, done: true });
    this.#waiting = undefined;
    this.#end();
    return Promise.resolve({ value: undefined, done: true });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#onEnd();
  }
}
