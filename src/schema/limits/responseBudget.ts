import { AppError } from "../../errors.js";

/** The size of the largest response, in bytes of JSON. */
export const responseBytesMax = 16 * 1024 * 1024;

export function responseTooLarge(): AppError {
  return new AppError(
    "RESPONSE_TOO_LARGE",
    `The response would have more than ${responseBytesMax} bytes. Request smaller pages (first), fewer fields or fewer lists in one operation.`,
  );
}

/** Counts texts as they are read, so that an answer that is too large is refused early. */
export class ResponseBudget {
  #left = responseBytesMax;
  /** Bytes that were charged before they were read. */
  #reserved = 0;
  /** Pages that are not charged yet. */
  #pages = 0;
  #lastPage: Promise<void> | undefined;
  #beginNextPage: () => void = () => undefined;

  /** Charges a text or a list of texts. @throws {AppError} RESPONSE_TOO_LARGE */
  charge(texts: unknown): void {
    const list = Array.isArray(texts) ? (texts as unknown[]) : [texts ?? ""];
    const bytes = list.reduce<number>((sum, text) => sum + String(text).length, 0); // or more
    const reserved = Math.min(bytes, this.#reserved);
    this.#reserved -= reserved;
    this.#left -= bytes - reserved;
    this.requireRoom();
  }

  /** @throws {AppError} RESPONSE_TOO_LARGE */
  requireRoom(): void {
    if (this.#left < 0) throw responseTooLarge();
  }

  /** Whether every page that is not charged yet may have so many characters. */
  hasRoomForPagesOf(characters: number): boolean {
    return characters * this.#pages <= this.#left;
  }

  /**
   * Charges texts before they are read, and returns once all other pages have charged theirs: an answer that would be too large
   * is refused before any text is read. Call it within `readPage`.
   *
   * @throws {AppError} RESPONSE_TOO_LARGE
   */
  async reserve(bytes: number): Promise<void> {
    this.#left -= bytes;
    this.requireRoom();
    this.#reserved += bytes;
    this.#beginNextPage();
    await this.#lastPage;
    this.requireRoom();
  }

  /** Starts again, because each value of a subscription is a separate answer. */
  renew(): void {
    this.#left = responseBytesMax;
    this.#reserved = 0;
  }

  /** Reads a page once the texts of those before it are charged. */
  async readPage<Result>(read: () => Result): Promise<Awaited<Result>> {
    const before = this.#lastPage;
    let resolve: () => void = () => undefined;
    this.#lastPage = new Promise((begin) => (resolve = begin));
    this.#pages += 1;
    let isCharged = false;
    const beginNext = (): void => {
      if (!isCharged) this.#pages -= 1;
      isCharged = true;
      resolve();
    };
    if (before !== undefined) await before;
    this.#beginNextPage = beginNext;
    try {
      return await read();
    } finally {
      setImmediate(beginNext); // when this page's texts are charged
    }
  }
}
