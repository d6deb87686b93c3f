import type { CsvPiece } from "../csv/pieces.js";
import { RecordSplitter } from "../csv/records.js";
import { type CsvChunk, type CsvOptions, type CsvResult, readCsv } from "../reading/csv.js";
import { type DecodedText, decodeText } from "./decode.js";
import { CsvRows } from "./csvRows.js";
import { lowerCase, ProductFinisher } from "./finish.js";
import type { Layout } from "./layout.js";
import { google } from "./layouts/google.js";
import { vitrine } from "./layouts/vitrine.js";
import { onePerProductMessage, reportMissing } from "./missing.js";
import { Notes } from "./notes.js";
import type { FormatOptions } from "./options.js";
import { layouts, type Recognized, recognize } from "./recognize.js";
import { FormatReader } from "./reader.js";
import { XmlRows } from "./xmlRows.js";

export type FormatReadOptions = CsvOptions & FormatOptions;

/**
 * Reads a file of Vitrine or of another system in constant memory; the result has its format and notes on what is not
 * stored. Otherwise as `readCsv`.
 *
 * @throws {AppError} BAD_REQUEST for a template that makes no URLs
 */
export async function* readCatalog(
  bytes: AsyncIterable<Buffer>,
  options: FormatReadOptions = {},
): AsyncGenerator<CsvChunk, CsvResult> {
  const text = await decodeText(bytes, options.encoding);
  const iterator = text.pieces[Symbol.asyncIterator]();
  try {
    const start = await readStart(iterator);
    return yield* readText(text, replayed(start.pieces, iterator), start, options);
  } finally {
    await iterator.return?.();
  }
}

/** Unless the options name it. */
export async function recognizeFormat(bytes: AsyncIterable<Buffer>, options: FormatOptions): Promise<string> {
  const { pieces } = await decodeText(bytes, options.encoding);
  const iterator = pieces[Symbol.asyncIterator]();
  try {
    const { isXml, header = "" } = await readStart(iterator);
    return isXml ? "google" : recognize(header, options.format ?? "auto", options.delimiter).format;
  } finally {
    await iterator.return?.();
  }
}

async function* readText(
  { encoding }: DecodedText,
  pieces: AsyncIterable<CsvPiece>,
  { isXml, header }: Start,
  options: FormatReadOptions,
): AsyncGenerator<CsvChunk, CsvResult> {
  const notes = new Notes();
  if (encoding !== "UTF-8") notes.add(`The file was read as ${encoding}.`);
  if (isXml) {
    const result = yield* xmlReader(notes, options).readAll(pieces);
    return { ...result, format: "google", notes: notes.list };
  }
  const found = recognize(header ?? "", options.format ?? "auto", options.delimiter);
  const { map, defaults, urlTemplate } = options;
  const isPlain = map === undefined && defaults === undefined && urlTemplate === undefined;
  // A patch may have too few columns to recognize another system by.
  const isOwn = found.format === "vitrine" || (options.isPatch === true && (options.format ?? "auto") === "auto");
  if (header === undefined || (isOwn && isPlain)) {
    const result = yield* readCsv(pieces, options);
    return { ...result, format: "vitrine", notes: notes.list };
  }
  const result = yield* csvReader(found, notes, options).readAll(pieces);
  return { ...result, format: found.format, notes: notes.list };
}

const noPatchMessage = "The mode PATCH reads files in Vitrine's own columns only.";

function csvReader({ format, delimiter, header }: Recognized, notes: Notes, options: FormatReadOptions): FormatReader {
  const layout: Layout = format === "vitrine" ? vitrine : layouts[format];
  const nameOf = layout.nameOf ?? lowerCase;
  const finisher = new ProductFinisher(options, layout);
  const columns = new Set(header.map(nameOf));
  for (const cell of header) {
    const name = nameOf(cell);
    if (name !== "" && !layout.reads.has(name) && !finisher.columns.has(name)) notes.unusedColumn(cell.trim());
  }
  const rows = new CsvRows(header, nameOf, delimiter);
  const readerOptions = { columns, onePer: options.onePer ?? "variant", notes, now: Date.now() } as const;
  const reader = new FormatReader(rows, layout.createReader(readerOptions), finisher, options);
  if (options.isPatch === true) reader.refuse(noPatchMessage);
  reportMissing(reader, finisher, layout, columns, options);
  return reader;
}

function xmlReader(notes: Notes, options: FormatReadOptions): FormatReader {
  const { format = "auto", onePer = "variant" } = options;
  const finisher = new ProductFinisher(options, google);
  const rows = new XmlRows(new Set([...google.reads, ...finisher.columns]), notes);
  const rowReader = google.createReader({ columns: undefined, onePer, notes, now: Date.now() });
  const reader = new FormatReader(rows, rowReader, finisher, options);
  if (options.isPatch === true) reader.refuse(noPatchMessage);
  if (format !== "auto" && format !== "google") reader.refuse("XML is read as a Google feed (RSS or Atom) only.");
  if (onePer === "product") reader.refuse(onePerProductMessage);
  return reader;
}

interface Start {
  readonly isXml: boolean;
  readonly header: string | undefined;
}

/** Reads until the header is complete. It is undefined for an empty text and for an unreadable header. */
async function readStart(iterator: AsyncIterator<CsvPiece>): Promise<Start & { readonly pieces: CsvPiece[] }> {
  const pieces: CsvPiece[] = [];
  const splitter = new RecordSplitter(() => ","); // until the header is read, each delimiter counts
  for (let step = await iterator.next(); step.done !== true; step = await iterator.next()) {
    pieces.push(step.value);
    if (pieces.length === 1 && /^\uFEFF?\s*</u.test(step.value.text)) return { pieces, isXml: true, header: undefined };
    const [record] = splitter.push(step.value.text);
    if (record !== undefined)
      return { pieces, isXml: false, header: record.fault === undefined ? record.text : undefined };
  }
  const [last] = splitter.end();
  return { pieces, isXml: false, header: last?.fault === undefined ? last?.text : undefined };
}

async function* replayed(first: CsvPiece[], iterator: AsyncIterator<CsvPiece>): AsyncGenerator<CsvPiece, void> {
  for (let piece = first.shift(); piece !== undefined; piece = first.shift()) yield piece;
  for (let step = await iterator.next(); step.done !== true; step = await iterator.next()) yield step.value;
}
