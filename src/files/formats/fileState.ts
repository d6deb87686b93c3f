import { type Delimiter, type CsvRecord, RecordSplitter } from "../csv/records.js";
import type { CsvPiece } from "../csv/csvPieces.js";
import type { CsvOptions } from "../csv/csv.js";
import { decodeText } from "../encoding/decode.js";
import type { FormatOptions } from "./options.js";
import { type Recognized, recognize } from "./recognize.js";

export type FormatReadOptions = CsvOptions & FormatOptions;

/** A file whose layout is known. */
export interface OpenFile {
  readonly encoding: string;
  /** The whole text. */
  readonly pieces: AsyncIterable<CsvPiece>;
  /** Reads it again from its beginning. */
  readonly reread: () => AsyncIterable<CsvPiece>;
  readonly isXml: boolean;
  readonly found: Recognized;
  /** Whether it is CSV in Vitrine's own columns, and nothing is mapped. */
  readonly isOwn: boolean;
  close(): Promise<unknown>;
}

/** @throws {AppError} BAD_REQUEST for files that are not rows of text */
export async function openFile(open: () => AsyncIterable<Buffer>, options: FormatReadOptions): Promise<OpenFile> {
  const { encoding, pieces } = await decodeText(open, options);
  const iterator = pieces[Symbol.asyncIterator]();
  const close = async () => iterator.return?.();
  try {
    const { isXml, header, delimiter, first } = await readStart(iterator);
    // A patch may have too few columns to recognize another system.
    const isOwnPatch = options.isPatch === true && (options.format ?? "auto") === "auto";
    const wanted = isOwnPatch ? "vitrine" : (options.format ?? "auto");
    const found = await recognize(header ?? "", wanted, options.delimiter ?? delimiter);
    const { map, defaults, urlTemplate, fillDown } = options;
    const isMapped = [map, defaults, urlTemplate, fillDown].some((option) => option !== undefined);
    return {
      encoding,
      pieces: replayed(first, iterator),
      async *reread() {
        yield* (await decodeText(open, options)).pieces;
      },
      isXml,
      found: isXml ? { ...found, format: "google" } : found,
      isOwn: !isXml && (header === undefined || (found.format === "vitrine" && !isMapped)),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

interface Start {
  readonly isXml: boolean;
  readonly header: string | undefined;
  /** The delimiter that a line above the header names. */
  readonly delimiter?: Delimiter | undefined;
  /** The pieces read so far. */
  readonly first: CsvPiece[];
}

/** Reads until the header is complete. It is undefined for an empty text and for an unreadable header. */
async function readStart(iterator: AsyncIterator<CsvPiece>): Promise<Start> {
  const first: CsvPiece[] = [];
  const splitter = new RecordSplitter(() => ",", true); // until the header is read, each delimiter counts
  for (let step = await iterator.next(); step.done !== true; step = await iterator.next()) {
    first.push(step.value);
    if (first.length === 1 && /^\uFEFF?\s*</u.test(step.value.text)) return { first, isXml: true, header: undefined };
    const [record] = splitter.push(step.value.text);
    if (record !== undefined) return { first, isXml: false, ...headerOf(record, splitter) };
  }
  return { first, isXml: false, ...headerOf(splitter.end()[0], splitter) };
}

function headerOf(record: CsvRecord | undefined, { stated }: RecordSplitter): Pick<Start, "header" | "delimiter"> {
  return { header: record?.fault === undefined ? record?.text : undefined, delimiter: stated };
}

async function* replayed(first: CsvPiece[], iterator: AsyncIterator<CsvPiece>): AsyncGenerator<CsvPiece, void> {
  for (let piece = first.shift(); piece !== undefined; piece = first.shift()) yield piece;
  for (let step = await iterator.next(); step.done !== true; step = await iterator.next()) yield step.value;
}
