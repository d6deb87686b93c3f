import { isAscii, isUtf8 } from "node:buffer";
import { createReadStream } from "node:fs";

export interface CsvPiece {
  readonly text: string;
  /** In the source: bytes of a file, UTF-16 code units of a text. */
  readonly bytesRead: number;
  /** The encoding in which what follows the last piece is not valid. */
  readonly invalidAs?: string;
  /** The first bytes that are not UTF-8. */
  readonly invalid?: Uint8Array;
  /** Whether a lone surrogate stands for a byte that is not UTF-8: other lines show that the text is. */
  readonly hasInvalid?: boolean;
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

/** As `utf8Pieces`. @throws the error of node:fs if the file cannot be read */
export function filePieces(file: string): AsyncGenerator<CsvPiece, void> {
  return utf8Pieces(fileBytes(file), () => fileBytes(file));
}

/**
 * Reads a text in UTF-8. Where a line beyond ASCII is valid, that is what the text is, and bytes that are not become lone surrogates;
 * otherwise it reads up to the first line that is not.
 *
 * @param reopen reads the text once more from its beginning
 */
export async function* utf8Pieces(
  chunks: AsyncIterable<Buffer>,
  reopen: () => AsyncIterable<Buffer>,
): AsyncGenerator<CsvPiece, void> {
  let bytesRead = 0;
  let unfinished = Buffer.alloc(0);
  let isSure = false;
  const piece = async (bytes: Buffer): Promise<CsvPiece> => {
    if (isUtf8(bytes)) {
      isSure ||= !isAscii(bytes);
      return { text: bytes.toString("utf8"), bytesRead };
    }
    isSure ||= await hasValidLine(reopen());
    if (isSure) return { text: withSurrogates(bytes), bytesRead, hasInvalid: true };
    const valid = validLinesLength(bytes);
    return { text: bytes.toString("utf8", 0, valid), bytesRead, invalidAs: "UTF-8", invalid: bytes.subarray(valid) };
  };
  for await (const chunk of chunks) {
    bytesRead += chunk.length;
    const bytes = unfinished.length === 0 ? chunk : Buffer.concat([unfinished, chunk]);
    const whole = bytes.subarray(0, bytes.length - unfinishedLength(bytes));
    unfinished = Buffer.from(bytes.subarray(whole.length)); // a view would retain the whole chunk
    const next = await piece(whole);
    yield next;
    if (next.invalidAs !== undefined) return;
  }
  if (unfinished.length > 0) yield await piece(unfinished);
}

/** Of a line that is looked at; a longer one shows nothing. */
const lineBytesMax = 4 * 1024 * 1024;

/** Whether a line of a text is beyond ASCII, and valid UTF-8. */
async function hasValidLine(chunks: AsyncIterable<Buffer>): Promise<boolean> {
  let rest = Buffer.alloc(0);
  for await (const chunk of chunks) {
    const bytes = Buffer.concat([rest, chunk]);
    const end = bytes.lastIndexOf(lineFeed) + 1;
    if (areValid(bytes.subarray(0, end))) return true;
    rest = Buffer.from(bytes.subarray(bytes.length - end > lineBytesMax ? bytes.length : end));
  }
  return areValid(rest);
}

function areValid(lines: Buffer): boolean {
  if (isUtf8(lines)) return !isAscii(lines);
  for (let start = 0; start < lines.length;) {
    const end = lines.indexOf(lineFeed, start) + 1 || lines.length;
    const line = lines.subarray(start, end);
    if (!isAscii(line) && isUtf8(line)) return true;
    start = end;
  }
  return false;
}

/** A byte that is not valid is the lone surrogate U+DC00 and itself. */
function withSurrogates(bytes: Buffer): string {
  let [text, start] = ["", 0];
  for (let at = 0; at < bytes.length;) {
    const length = characterLength(bytes[at] ?? 0);
    if (length > 0 && (length === 1 || isUtf8(bytes.subarray(at, at + length)))) at += length;
    else {
      text += bytes.toString("utf8", start, at) + String.fromCharCode(surrogates + (bytes[at] ?? 0));
      start = at += 1;
    }
  }
  return text + bytes.toString("utf8", start);
}

const surrogates = 0xdc00;

/** The bytes of a text: lone surrogates are those that they stand for. */
export function utf8Bytes(text: string): Buffer {
  if (text.isWellFormed()) return Buffer.from(text);
  const parts = text.split(/(\p{Surrogate})/u);
  return Buffer.concat(
    parts.map((part, index) => (index % 2 === 0 ? Buffer.from(part) : Buffer.from([part.charCodeAt(0) - surrogates]))),
  );
}

/** Of the character that begins with this byte; 0 where none does. */
function characterLength(byte: number): number {
  return byte < 0x80 ? 1 : byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 0;
}

function unfinishedLength(bytes: Buffer): number {
  for (let back = 1; back <= 3; back += 1) {
    const byte = bytes.at(-back) ?? 0;
    if (byte < 0x80) return 0;
    const length = characterLength(byte);
    if (length > 0) return length > back ? back : 0;
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
