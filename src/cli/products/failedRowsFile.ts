import { createWriteStream } from "node:fs";
import { realpath } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { fileBytes, filePieces, utf8Bytes } from "../../files/csv/csvPieces.js";
import type { FormatReadOptions } from "../../files/formats/fileState.js";
import { AppError } from "../../errors.js";
import { beginOutputFile } from "../terminal/outputFile.js";

/** A set of line numbers, with one bit for each line. */
export class LineSet {
  #bits = new Uint8Array(1_024);

  add(line: number): void {
    const index = line >>> 3;
    if (index >= this.#bits.length) {
      const larger = new Uint8Array(Math.max(this.#bits.length * 2, index + 1));
      larger.set(this.#bits);
      this.#bits = larger;
    }
    this.#bits[index] = (this.#bits[index] ?? 0) | (1 << (line & 7));
  }

  has(line: number): boolean {
    return ((this.#bits[line >>> 3] ?? 0) & (1 << (line & 7))) !== 0;
  }

  clear(): void {
    this.#bits.fill(0);
  }
}

interface Rejects {
  write(accepted: LineSet | undefined): Promise<void>;
  /** Removes the file if it is not complete. */
  close(): void;
}

/**
 * Prepares the file of rejected rows.
 *
 * @throws {AppError} BAD_REQUEST if it is the imported file, or cannot be written
 */
export async function openRejects(rejected: RejectedFile, target: string): Promise<Rejects> {
  const existing = await realpath(target).catch(() => undefined);
  if (existing === (await realpath(rejected.file))) {
    throw new AppError("BAD_REQUEST", `${target} is the imported file: name another one for the rejected rows.`);
  }
  const output = await beginOutputFile(target);
  return {
    async write(accepted) {
      await writeRejects(rejected, output.draft, accepted);
      await output.finish();
    },
    close: () => output.close(),
  };
}

type RowFormat = "csv" | "ndjson";

/**
 * Writes rejected rows, in CSV with the header. Once corrected, the file can be imported with the same options.
 *
 * @param accepted lines on which accepted rows start; undefined if all rows were accepted
 * @throws the error of node:fs if a file cannot be read or written
 */
async function writeRejects(
  { file, form, options }: RejectedFile,
  target: string,
  accepted: LineSet | undefined,
): Promise<void> {
  const rejected = form === "ndjson" ? rejectedLines(file, accepted) : await rejectedRows(file, options, accepted);
  return pipeline(bytesOf(rejected), createWriteStream(target));
}

/** Keeps bytes that are not UTF-8 as they were. */
async function* bytesOf(texts: AsyncIterable<string>): AsyncGenerator<Buffer, void> {
  for await (const text of texts) yield utf8Bytes(text);
}

interface RejectedFile {
  readonly file: string;
  readonly form: RowFormat;
  /** Those of the import. */
  readonly options: FormatReadOptions;
}

async function rejectedRows(file: string, options: FormatReadOptions, accepted: LineSet | undefined) {
  const { rejectedText } = await import("../../files/formats/failedSourceRows.js"); // on demand: its libraries take time to load
  return rejectedText(() => fileBytes(file), { accepted, needed: new LineSet(), options });
}

/** Writes parts of lines as they come, because a line may be longer than a piece. Skips blank lines, which are not rows. */
async function* rejectedLines(file: string, accepted: LineSet | undefined): AsyncGenerator<string, void> {
  if (accepted === undefined) return;
  let line = 1;
  let isStart = true;
  for await (const { text } of filePieces(file)) {
    let rejected = "";
    for (const part of text.split(/(?<=\n)/u)) {
      const isEnd = part.endsWith("\n");
      const isBlank = isStart && isEnd && part.trim() === "";
      if (!isBlank && !accepted.has(line)) rejected += part;
      if (isEnd) line += 1;
      isStart = isEnd;
    }
    yield rejected;
  }
}
