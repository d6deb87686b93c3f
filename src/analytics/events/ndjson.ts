import { isUtf8 } from "node:buffer";
import type { FileHandle } from "node:fs/promises";

/** A line that is not blank. */
export interface TextLine {
  /** Counted from 1, including blank lines. */
  readonly number: number;
  readonly text: string;
  readonly fault?: "tooLong" | "notUtf8";
}

export interface LineBlock {
  readonly lines: readonly TextLine[];
  readonly bytesRead: number;
}

/** Bounds the memory for files without line ends. */
export const lineBytesMax = 1024 * 1024;

const blockBytes = 256 * 1024;
const [lineFeed, carriageReturn] = [10, 13] as const;
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

/** Reads the first `size` bytes in constant memory. The handle stays open for another reading. */
export async function* readLines(handle: FileHandle, size: number): AsyncGenerator<LineBlock, void> {
  if (size === 0) return;
  const splitter = new LineSplitter();
  let bytesRead = 0;
  // Without a start, a second reading would begin where the first one ended.
  const options = { start: 0, end: size - 1, highWaterMark: blockBytes, autoClose: false };
  for await (const bytes of handle.createReadStream(options) as AsyncIterable<Buffer>) {
    bytesRead += bytes.length;
    yield { lines: splitter.push(bytes), bytesRead };
  }
  yield { lines: splitter.end(), bytesRead };
}

/** Splits blocks of any size into lines, in constant memory. */
export class LineSplitter {
  #number = 0;
  #rest: Buffer = Buffer.alloc(0);
  #dropping = false;

  push(block: Buffer): TextLine[] {
    const bytes = this.#rest.length === 0 ? block : Buffer.concat([this.#rest, block]);
    const lines: TextLine[] = [];
    let start = 0;
    for (let end = bytes.indexOf(lineFeed); end !== -1; end = bytes.indexOf(lineFeed, start)) {
      this.#take(bytes.subarray(start, end), lines);
      start = end + 1;
    }
    this.#rest = bytes.subarray(start);
    if (this.#rest.length > lineBytesMax + byteOrderMark.length + 1) this.#dropping = true;
    if (this.#dropping) this.#rest = Buffer.alloc(0);
    return lines;
  }

  end(): TextLine[] {
    const lines: TextLine[] = [];
    this.#take(this.#rest, lines);
    return lines;
  }

  #take(bytes: Buffer, lines: TextLine[]): void {
    this.#number += 1;
    const number = this.#number;
    const start =
      number === 1 && bytes.subarray(0, byteOrderMark.length).equals(byteOrderMark) ? byteOrderMark.length : 0;
    const end = bytes.at(-1) === carriageReturn ? bytes.length - 1 : bytes.length;
    const line = bytes.subarray(start, end);
    if (this.#dropping || line.length > lineBytesMax) lines.push({ number, text: "", fault: "tooLong" });
    else if (!isUtf8(line)) lines.push({ number, text: "", fault: "notUtf8" });
    else {
      const text = line.toString("utf8");
      if (/\S/u.test(text)) lines.push({ number, text });
    }
    this.#dropping = false;
  }
}
