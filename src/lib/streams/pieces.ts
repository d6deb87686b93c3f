/** A Buffer costs some hundred bytes besides its own, and keeps all of the memory that it was cut from. */
const blockBytes = 4_096;

/** Collects the pieces of a body. Small ones are copied together, because a sender may send each byte as a piece. */
export class Pieces {
  readonly #whole: Buffer[] = [];
  /** The current block, of which the rest is free. */
  #block = Buffer.alloc(0);
  #used = 0;
  #length = 0;

  /** In bytes. */
  get length(): number {
    return this.#length;
  }

  push(piece: Buffer): void {
    const isFirst = this.#length === 0;
    this.#length += piece.length;
    if (isFirst || piece.length >= blockBytes) {
      this.#endBlock();
      this.#whole.push(piece);
      return;
    }
    for (let at = 0; at < piece.length;) {
      if (this.#used === this.#block.length) {
        this.#endBlock();
        this.#block = Buffer.allocUnsafeSlow(blockBytes);
      }
      const copied = piece.copy(this.#block, this.#used, at);
      this.#used += copied;
      at += copied;
    }
  }

  /** All of them, in order and in few buffers. */
  all(): readonly Buffer[] {
    this.#endBlock();
    return this.#whole;
  }

  /** All of them as one buffer. A single piece is not copied. */
  concat(): Buffer {
    const [first, ...others] = this.all();
    return first !== undefined && others.length === 0 ? first : Buffer.concat(this.#whole);
  }

  /** Returns all of them as one buffer, and forgets them. */
  take(): Buffer {
    const bytes = this.concat();
    this.#whole.length = 0;
    this.#length = 0;
    return bytes;
  }

  #endBlock(): void {
    if (this.#used > 0) this.#whole.push(this.#block.subarray(0, this.#used));
    this.#block = this.#block.subarray(this.#used);
    this.#used = 0;
  }
}
