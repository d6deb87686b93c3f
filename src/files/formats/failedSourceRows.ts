import { RecordSplitter } from "../csv/records.js";
import { delimiterOf } from "../csv/csv.columns.js";
import { ProductFinisher } from "./completeProduct.js";
import { columnName, type Draft } from "./layout.js";
import { Notes } from "./notes.js";
import { type FormatReadOptions, openFile, type OpenFile } from "./fileState.js";
import { eventsOf } from "./rows/row.js";
import { rowReader, rowSource } from "./rows/rowReaders.js";

interface Lines {
  add(line: number): void;
  has(line: number): boolean;
}

interface Rejecting {
  /** Lines on which accepted rows start; undefined if all rows were accepted. */
  readonly accepted: Pick<Lines, "has"> | undefined;
  /** Holds the lines to write. */
  readonly needed: Lines;
  readonly options: FormatReadOptions;
}

const byteOrderMark = "\uFEFF";

/**
 * The rows of a file that were not stored, below its header, with the rows that they take values from, so that reading them gives
 * the same as in the file. The text begins with a byte order mark unless the file is UTF-8.
 *
 * @throws {AppError} as `readCatalog`
 */
export async function* rejectedText(
  open: () => AsyncIterable<Buffer>,
  rejecting: Rejecting,
): AsyncGenerator<string, void> {
  const file = await openFile(open, rejecting.options);
  try {
    if (file.encoding !== "UTF-8") yield byteOrderMark;
    if (!file.isOwn && rejecting.accepted !== undefined) await findNeeded(file, rejecting);
    yield* file.isXml ? xmlText(file, rejecting) : csvText(file, rejecting);
  } finally {
    await file.close();
  }
}

/** Needed rows may need further ones, such as those with the same SKU. After this many readings, all rows are written. */
const readingsMax = 10;

async function findNeeded(file: OpenFile, { accepted, needed, options }: Rejecting): Promise<void> {
  const header = file.isXml ? [] : file.found.header.map(columnName);
  const finisher = new ProductFinisher(options, header);
  const newSource = () => rowSource(file, finisher, new Notes());
  const most = file.isXml || file.found.format === "vitrine" ? 1 : readingsMax;
  let [readings, isMore] = [0, true];
  const need = (line: number): void => {
    isMore ||= !needed.has(line);
    needed.add(line);
  };
  const take = (drafts: Iterable<Draft>): void => {
    for (const { row, from = [], parent } of drafts) {
      if (accepted?.has(row.line) === true && !needed.has(row.line) && readings < readingsMax) continue;
      const others = parent === undefined ? [] : [parent.row.line, ...(parent.from ?? [])];
      for (const line of [row.line, ...from, ...others]) need(line);
    }
  };
  while (isMore && readings < most) {
    [readings, isMore] = [readings + 1, false];
    const rows = await rowReader(file, newSource, { notes: new Notes(), options });
    for await (const events of eventsOf(file.reread(), newSource())) {
      for (const event of events) {
        if ("row" in event) take(rows.take(event.row));
        else need(event.line);
      }
    }
    take(rows.end());
  }
}

async function* csvText(file: OpenFile, { accepted, needed, options }: Rejecting): AsyncGenerator<string, void> {
  const { isOwn, found } = file;
  const splitter = new RecordSplitter(isOwn ? (options.delimiter ?? delimiterOf) : found.delimiter);
  const isBlank = (record: string) => record.split(splitter.delimiter).every((cell) => /^\s*(?:""\s*)?$/u.test(cell));
  const isRejected = (record: string, line: number): boolean => {
    if (accepted === undefined) return false;
    return isOwn ? !accepted.has(line) && !isBlank(record) : needed.has(line);
  };
  let hasHeader = false;
  const textOf = (records: ReturnType<typeof splitter.push>): string => {
    let text = "";
    for (const { text: record, line } of records) {
      if (!hasHeader || isRejected(record, line)) text += `${record}\n`;
      hasHeader = true;
    }
    return text;
  };
  for await (const { text } of file.pieces) yield textOf(splitter.push(text));
  yield textOf(splitter.end());
}

/** The document without the items that were stored. */
async function* xmlText(file: OpenFile, { needed }: Rejecting): AsyncGenerator<string, void> {
  const source = rowSource(file, new ProductFinisher({}), new Notes());
  let [rest, restStart] = ["", 0];
  for await (const piece of file.pieces) {
    rest += piece.text.replace(byteOrderMark, "");
    let kept = "";
    for (const event of await source.push(piece.text)) {
      if (!("row" in event) || event.span === undefined) continue;
      const [start, end] = [event.span.start - restStart, event.span.end - restStart];
      kept += rest.slice(0, needed.has(event.row.line) ? end : start);
      rest = rest.slice(end);
      restStart = event.span.end;
    }
    if (source.isInRow !== true) {
      kept += rest;
      restStart += rest.length;
      rest = "";
    }
    yield kept;
  }
  yield rest;
}
