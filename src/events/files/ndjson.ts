import { isUtf8 } from "node:buffer";
import type { FileHandle } from "node:fs/promises";
import type { Problem, Problems } from "../../errors.js";
import { notJson } from "../../lib/json/parseJson.js";

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
export async function* readLines(
  handle: FileHandle,
  size: number,
  bytesMax = lineBytesMax,
): AsyncGenerator<LineBlock, void> {
  if (size === 0) return;
  const splitter = new LineSplitter(bytesMax);
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
  /** Of the line that is not complete: joined once, however many they are. */
  #parts: Buffer[] = [];
  #partsBytes = 0;
  #dropping = false;

  constructor(private readonly bytesMax = lineBytesMax) {}

  push(block: Buffer): TextLine[] {
    const lines: TextLine[] = [];
    let start = 0;
    for (let end = block.indexOf(lineFeed); end !== -1; end = block.indexOf(lineFeed, start)) {
      this.#take(this.#joined(block.subarray(start, end)), lines);
      start = end + 1;
    }
    this.#keep(block.subarray(start));
    return lines;
  }

  end(): TextLine[] {
    const lines: TextLine[] = [];
    this.#take(this.#joined(Buffer.alloc(0)), lines);
    return lines;
  }

  #keep(part: Buffer): void {
    this.#partsBytes += part.length;
    if (this.#partsBytes > this.bytesMax + byteOrderMark.length + 1) this.#dropping = true;
    if (this.#dropping) this.#clear();
    else if (part.length > 0) this.#parts.push(part);
  }

  #joined(last: Buffer): Buffer {
    const line = this.#parts.length === 0 ? last : Buffer.concat([...this.#parts, last]);
    this.#clear();
    return line;
  }

  #clear(): void {
    this.#parts = [];
    this.#partsBytes = 0;
  }

  #take(bytes: Buffer, lines: TextLine[]): void {
    this.#number += 1;
    const number = this.#number;
    const start =
      number === 1 && bytes.subarray(0, byteOrderMark.length).equals(byteOrderMark) ? byteOrderMark.length : 0;
    const end = bytes.at(-1) === carriageReturn ? bytes.length - 1 : bytes.length;
    const line = bytes.subarray(start, end);
    if (this.#dropping || line.length > this.bytesMax) lines.push({ number, text: "", fault: "tooLong" });
    else if (!isUtf8(line)) lines.push({ number, text: "", fault: "notUtf8" });
    else {
      const text = line.toString("utf8");
      if (/\S/u.test(text)) lines.push({ number, text });
    }
    this.#dropping = false;
  }
}

const faults = {
  tooLong: `The line is longer than ${lineBytesMax} bytes.`,
  notUtf8: "The line is not valid UTF-8.",
} as const;

/** The value on a line; undefined where there is none, which is a problem. */
export function valueOf({ number: line, text, fault }: TextLine, problems: Problems): unknown {
  const refuse = (code: Problem["code"], message: string) => problems.add({ code, message, path: [], line });
  if (fault !== undefined) return refuse(fault === "tooLong" ? "TOO_LONG" : "MALFORMED", faults[fault]);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return problems.addLazily(() => ({ code: "MALFORMED", message: notJson(text), path: [], line })); // the parser's would quote it
  }
}
