import { isUtf8 } from "node:buffer";
import { createReadStream } from "node:fs";

export interface CsvPiece {
  readonly text: string;
  /** In the source: bytes of a file, UTF-16 code units of a text. */
  readonly bytesRead: number;
  /** The encoding in which what follows the last piece is not valid. */
  readonly invalidAs?: string;
  /** The first bytes that are not UTF-8. */
  readonly invalid?: Uint8Array;
}

const chunkBytes = 256 * 1024;
const lineFeed = 10;

export function* textPieces(text: string, characters: number): Generator<CsvPiece, void> {
  for (let start = 0; start < text.length; start += characters) {
    const end = Math.min(start + characters, text.length);
    yield { text: text.slice(start, end), bytesRead: end };
  }
}

/** Opens the file once it is iterated, and closes it at the end. @throws the error of node:fs if the file cannot be read */
export async function* fileBytes(file: string): AsyncGenerator<Buffer, void> {
  yield* createReadStream(file, { highWaterMark: chunkBytes }) as AsyncIterable<Buffer>;
}

/** Reads up to the first line that is not UTF-8. @throws the error of node:fs if the file cannot be read */
export function filePieces(file: string): AsyncGenerator<CsvPiece, void> {
  return utf8Pieces(fileBytes(file));
}

/** Reads up to the first line that is not UTF-8. */
export async function* utf8Pieces(chunks: AsyncIterable<Buffer>): AsyncGenerator<CsvPiece, void> {
  let bytesRead = 0;
  let unfinished = Buffer.alloc(0);
  for await (const chunk of chunks) {
    bytesRead += chunk.length;
    const bytes = unfinished.length === 0 ? chunk : Buffer.concat([unfinished, chunk]);
    const whole = bytes.subarray(0, bytes.length - unfinishedLength(bytes));
    if (!isUtf8(whole)) {
      const valid = validLinesLength(whole);
      yield { text: whole.toString("utf8", 0, valid), bytesRead, invalidAs: "UTF-8", invalid: whole.subarray(valid) };
      return;
    }
    unfinished = Buffer.from(bytes.subarray(whole.length)); // a view would retain the whole chunk
    yield { text: whole.toString("utf8"), bytesRead };
  }
  if (unfinished.length > 0) yield { text: "", bytesRead, invalidAs: "UTF-8", invalid: unfinished };
}

function unfinishedLength(bytes: Buffer): number {
  for (let back = 1; back <= 3; back += 1) {
    const byte = bytes.at(-back) ?? 0;
    if (byte < 0x80) return 0;
    const characterLength = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 0;
    if (characterLength > 0) return characterLength > back ? back : 0;
  }
  return 0;
}

function validLinesLength(bytes: Buffer): number {
  let length = 0;
  while (length < bytes.length) {
    const next = bytes.indexOf(lineFeed, length) + 1 || bytes.length;
    if (!isUtf8(bytes.subarray(length, next))) break;
    length = next;
  }
  return length;
}
