import { AppError } from "../errors.js";

/** What one answer may have, in bytes of JSON. */
export const answerBytesMax = 16 * 1024 * 1024;

/** @returns RESPONSE_TOO_LARGE, which tells how to ask for less */
export function responseTooLarge(): AppError {
  return new AppError(
    "RESPONSE_TOO_LARGE",
    `The answer would have more than ${answerBytesMax} bytes. Ask for smaller pages (first), fewer fields or fewer lists in one operation.`,
  );
}

/** What one request's answer has come to so far, so that it ends before it is too large, and not when all is read. */
export class AnswerBudget {
  #left = answerBytesMax;
  #lastPage: Promise<void> | undefined;

  /** Counts a long text, or a list of them, that goes into the answer. @throws {AppError} RESPONSE_TOO_LARGE */
  charge(texts: unknown): void {
    if (typeof texts === "string") this.#left -= texts.length; // bytes at least
    else if (Array.isArray(texts)) for (const text of texts as unknown[]) this.#left -= String(text).length;
    this.requireRoom();
  }

  /** @throws {AppError} RESPONSE_TOO_LARGE */
  requireRoom(): void {
    if (this.#left < 0) throw responseTooLarge();
  }

  /** For a subscription, whose every value is an answer of its own. */
  renew(): void {
    this.#left = answerBytesMax;
  }

  /** Reads a page once the one before it has been read, so that it is known how large the answer is so far. */
  async readPage<Result>(read: () => Result): Promise<Awaited<Result>> {
    const before = this.#lastPage;
    let end: () => void = () => undefined;
    this.#lastPage = new Promise((resolve) => (end = resolve));
    if (before !== undefined) await before;
    try {
      return await read();
    } finally {
      setImmediate(end); // by then this page's texts have been charged
    }
  }
}
