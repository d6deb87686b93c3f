import type { FileHandle } from "node:fs/promises";
import { openAnonymousFile, writeWhole } from "./anonymousFile.js";

const memoryBytesMax = 4 * 1024 * 1024;
const readBytes = 256 * 1024;

/**
 * Decouples a writer from a slower reader: keeps bytes in memory up to a bound, then in a temporary file that vanishes with the
 * process.
 */
export class SpillQueue {
  #inMemory: Buffer[] = [];
  #inMemoryBytes = 0;
  #file: FileHandle | undefined;
  #written = 0;
  #read = 0;
  #end: { readonly error?: unknown } | undefined;
  #isAbandoned = false;
  #wake = (): void => undefined;

  /** @param bytesMax in memory; 4 MiB by default */
  constructor(private readonly bytesMax = memoryBytesMax) {}

  /**
   * Calls must not overlap. Nothing is kept once the reader is gone.
   *
   * @throws {AppError} UNAVAILABLE if there is no room for the temporary file
   */
  async push(bytes: Buffer): Promise<void> {
    if (this.#isAbandoned) return;
    const fits = this.#inMemoryBytes + bytes.length <= this.bytesMax;
    if (this.#read === this.#written && fits) {
      this.#inMemory.push(bytes);
      this.#inMemoryBytes += bytes.length;
    } else {
      await this.#append(bytes);
    }
    this.#wake();
  }

  /** Drops what was pushed; only before anything is read. */
  clear(): void {
    this.#inMemory = [];
    this.#inMemoryBytes = 0;
    this.#written = 0;
    this.#read = 0;
  }

  /** Ends the queue; an error reaches the reader immediately. */
  end(failure: { readonly error?: unknown } = {}): void {
    this.#end ??= failure;
    this.#wake();
  }

  /** Everything pushed, in order. Returning frees memory and file. */
  async *pieces(): AsyncGenerator<Buffer, void> {
    try {
      for (;;) {
        if (this.#end !== undefined && "error" in this.#end) throw this.#end.error;
        const piece = this.#takeFromMemory() ?? (await this.#readFile());
        if (piece !== undefined) {
          yield piece;
          continue;
        }
        if (this.#end !== undefined) return;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    } finally {
      this.#isAbandoned = true;
      this.clear();
      await this.#closeFile();
    }
  }

  async #append(bytes: Buffer): Promise<void> {
    this.#file ??= await openAnonymousFile();
    if (this.#isAbandoned) return this.#closeFile();
    await writeWhole(this.#file, bytes, this.#written);
    this.#written += bytes.length;
  }

  async #closeFile(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close();
  }

  /** The oldest bytes. Memory is refilled only once the file has been read. */
  #takeFromMemory(): Buffer | undefined {
    const piece = this.#inMemory.shift();
    this.#inMemoryBytes -= piece?.length ?? 0;
    return piece;
  }

  async #readFile(): Promise<Buffer | undefined> {
    const length = Math.min(readBytes, this.#written - this.#read);
    if (this.#file === undefined || length === 0) return undefined;
    const { buffer, bytesRead } = await this.#file.read(Buffer.allocUnsafe(length), 0, length, this.#read);
    this.#read += bytesRead;
    return buffer.subarray(0, bytesRead);
  }
}
