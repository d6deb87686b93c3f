import { AppError } from "../errors.js";

/** In bytes of JSON. */
export const answerBytesMax = 16 * 1024 * 1024;

export function responseTooLarge(): AppError {
  return new AppError(
    "RESPONSE_TOO_LARGE",
    `The answer would have more than ${answerBytesMax} bytes. Ask for smaller pages (first), fewer fields or fewer lists in one operation.`,
  );
}

/** Counts texts while they are read, so that a too large answer is refused early. */
export class AnswerBudget {
  #left = answerBytesMax;
  #lastPage: Promise<void> | undefined;

  /** Charges a text or a list of texts. @throws {AppError} RESPONSE_TOO_LARGE */
  charge(texts: unknown): void {
    if (typeof texts === "string") this.#left -= texts.length; // bytes at least
    else if (Array.isArray(texts)) for (const text of texts as unknown[]) this.#left -= String(text).length;
    this.requireRoom();
  }

  /** @throws {AppError} RESPONSE_TOO_LARGE */
  requireRoom(): void {
    if (this.#left < 0) throw responseTooLarge();
  }

  hasRoomFor(characters: number): boolean {
    return characters <= this.#left;
  }

  /** Charges what is not read yet; refuses all after it too. @throws {AppError} RESPONSE_TOO_LARGE */
  requireRoomFor(bytes: number): void {
    if (!this.hasRoomFor(bytes)) this.#left = -1;
    this.requireRoom();
  }

  /** Each value of a subscription is an answer of its own. */
  renew(): void {
    this.#left = answerBytesMax;
  }

  /** Reads a page once the size of those before it is known. */
  async readPage<Result>(read: () => Result): Promise<Awaited<Result>> {
    const before = this.#lastPage;
    let end: () => void = () => undefined;
    this.#lastPage = new Promise((resolve) => (end = resolve));
    if (before !== undefined) await before;
    try {
      return await read();
    } finally {
      setImmediate(end); // when this page's texts are charged
    }
  }
}
