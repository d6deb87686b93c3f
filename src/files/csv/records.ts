import {
  DamagedRow,
  hasEscapedQuote,
  isDoubtful,
  type Place,
  Retries,
  shapeOf,
  type Width,
  Finder,
  isSpace,
  LineEnds,
} from "./damage.js";

/** Meta's files have lines of these above their header: `# Required | …`, `# ref_application_id 123`, `#LEARN HOW TO …`. */
const comment = /^\s*"?#\s*(?:ref_(?:application|asset)_id\b|[^\s,;|]+[ |][^,;\t])/iu;

export type Delimiter = (typeof delimiters)[number];
export const delimiters = [",", ";", "\t"] as const;

/** The one that a header has the most of; a comma if tied. */
export function mostFrequentDelimiter(header: string): Delimiter {
  const counts = delimiters.map((delimiter) => header.split(delimiter).length);
  return delimiters[counts.indexOf(Math.max(...counts))] ?? ",";
}

/** `escapedQuote`: a cell ends after `\\"`, and another one has a quote without its pair. */
export type RecordFault = "textAfterQuote" | "unclosedQuote" | "escapedQuote" | "tooLong" | "tooLongInQuotes";

export interface CsvRecord {
  readonly text: string;
  /** The line it starts on, from 1. */
  readonly line: number;
  /** One of the header ends the reading. */
  readonly fault: RecordFault | undefined;
}

/** The longest record, in UTF-16 code units. */
export const recordCharactersMax = 4 * 1024 * 1024;

const [quote, lineFeed, byteOrderMark] = [34, 10, 0xfeff] as const;
const delimiterCodes = new Set(delimiters.map((delimiter) => delimiter.charCodeAt(0)));

const retriesMax = 4 * recordCharactersMax;

/** `maybeClosed`: after a quote in a quoted cell, which closes it or begins a pair. */
const [cellStart, unquoted, quoted, maybeClosed, closed] = [0, 1, 2, 3, 4] as const;

/**
 * Splits CSV text, in pieces of any size, into records in linear time. Cells are delimited as by `readCells`. Lines end with LF, CRLF or
 * CR, also within quotes. Until the delimiter is known, each one counts. Below the header, a row that cannot be read ends where another
 * one begins: see `DamagedRow`.
 */
export class RecordSplitter {
  recordLine = 1;
  #line = 1;
  #at: number = cellStart;
  #rest = "";
  #piece = "";
  #blank = true;
  #fault: RecordFault | undefined;
  #previousCode = -1;
  #ended = false;
  #isWhole = false;
  #hasQuotes = false;
  /** Of the header. */
  #width: Width | undefined;
  #damage: { readonly row: DamagedRow; readonly fault: RecordFault } | undefined;
  readonly #retries = new Retries(retriesMax);
  readonly #quotes = new Finder('"');
  readonly #lineEnds = new LineEnds();
  #delimiter: Delimiter | undefined;
  #delimiterCode = -1;

  /** The delimiter that a line above the header names: Excel writes `sep=;`. */
  stated: Delimiter | undefined;
  #hasRecord = false;
  readonly #detect: (record: string) => Delimiter;

  /** @param delimiter or what finds it in the first record that is not blank; @param isOfHeader whether no other is read */
  constructor(
    delimiter: Delimiter | ((record: string) => Delimiter) = ",",
    private readonly isOfHeader = false,
  ) {
    this.#detect = typeof delimiter === "function" ? delimiter : () => delimiter;
    if (typeof delimiter !== "function") this.#readAs(delimiter);
  }

  /** The delimiter of the records after the first. */
  get delimiter(): Delimiter {
    return this.#delimiter ?? ",";
  }

  get line(): number {
    return this.#line;
  }

  push(piece: string): CsvRecord[] {
    const records: CsvRecord[] = [];
    this.#damage?.row.add(piece);
    this.#splitAll(this.#damage === undefined ? { text: piece, at: 0 } : this.#recover(records), records);
    return records;
  }

  end(): CsvRecord[] {
    this.#isWhole = true;
    const records: CsvRecord[] = [];
    let next = this.#damage && this.#recover(records);
    do {
      this.#splitAll(next, records);
      if (this.#ended) break;
      const rest = { text: this.#rest, at: 0 };
      next = this.#at === quoted ? this.#fail("unclosedQuote", rest, records) : this.#finish(rest, undefined, records);
    } while (next !== undefined && !this.#ended);
    return records;
  }

  #splitAll(from: Place | undefined, records: CsvRecord[]): void {
    for (let next = from; next !== undefined && !this.#ended;) next = this.#split(next, records);
  }

  /** @returns where to go on after a damaged row */
  // oxlint-disable-next-line complexity, max-lines-per-function -- the one loop over every character of a file
  #split({ text: piece, at }: Place, records: CsvRecord[]): Place | undefined {
    const [quotes, lineEnds] = [this.#quotes, this.#lineEnds];
    if (at === 0 || piece !== this.#piece) this.#lookAt(piece);
    lineEnds.rewind(at);
    let start = this.#previousCode === -1 && piece.charCodeAt(0) === byteOrderMark ? 1 : at;
    let index = start;
    while (index < piece.length && !this.#ended) {
      const nextQuote = quotes.from(index);
      const lineEnd = lineEnds.from(index);
      if (this.#at === quoted) {
        this.#line += lineEnds.count(nextQuote);
        if (nextQuote < piece.length) this.#at = maybeClosed;
        index = nextQuote + 1;
      } else if (index < lineEnd && (this.#at === maybeClosed || this.#at === closed)) {
        this.#step(piece.charCodeAt(index));
        index += 1;
        if (this.#fault !== undefined && this.#width !== undefined)
          return this.#fail(
            this.#line === this.recordLine ? this.#fault : "unclosedQuote",
            this.#joined(piece, start),
            records,
          );
      } else if (nextQuote < lineEnd) {
        this.#skip(piece, index, nextQuote);
        this.#step(quote);
        this.#hasQuotes = true;
        index = nextQuote + 1;
      } else {
        this.#skip(piece, index, lineEnd);
        index = lineEnd + 1;
        if (lineEnd === piece.length) break;
        // A LF that completes a CRLF counts no line: its record ended at the CR.
        const lines = lineEnds.count(index);
        this.#line += lines;
        const next = lines > 0 ? this.#finish({ text: piece, at: start }, lineEnd, records) : undefined;
        if (next !== undefined || this.#damage !== undefined) return next;
        start = index;
        this.recordLine = this.#line;
      }
    }
    if (piece.length > 0) this.#previousCode = piece.charCodeAt(piece.length - 1);
    if (!this.#ended) this.#rest += piece.slice(start);
    if (this.#rest.length <= recordCharactersMax) return undefined;
    return this.#fail(this.#tooLong(), { text: this.#rest, at: 0 }, records);
  }

  #lookAt(piece: string): void {
    this.#quotes.reset(piece);
    this.#lineEnds.reset(piece, this.#previousCode);
    this.#piece = piece;
  }

  /** The record with what follows it. */
  #joined(piece: string, start: number): Place {
    return this.#rest === "" ? { text: piece, at: start } : { text: this.#rest + piece.slice(start), at: 0 };
  }

  /** It only matters whether a cell starts at the end of this text. */
  #skip(piece: string, from: number, to: number): void {
    let last = to - 1;
    while (last >= from && this.#isPadding(piece.charCodeAt(last))) last -= 1;
    if (last < from) return;
    this.#at = this.#isDelimiter(piece.charCodeAt(last)) ? cellStart : unquoted;
    this.#blank = false;
  }

  #step(code: number): void {
    if (this.#isDelimiter(code)) {
      this.#at = cellStart;
    } else if (code === quote && (this.#at === cellStart || this.#at === maybeClosed)) {
      this.#at = quoted;
      this.#blank = false;
    } else if (isSpace(code)) {
      this.#at = closed;
    } else if (this.#at !== unquoted) {
      this.#fault = "textAfterQuote";
      this.#at = unquoted;
    }
  }

  #isDelimiter(code: number): boolean {
    return this.#delimiter === undefined ? delimiterCodes.has(code) : code === this.#delimiterCode;
  }

  #isPadding(code: number): boolean {
    return isSpace(code) && !this.#isDelimiter(code);
  }

  #readAs(delimiter: Delimiter): void {
    this.#delimiter = delimiter;
    this.#delimiterCode = delimiter.charCodeAt(0);
  }

  /** @param lineEnd undefined at the end of the text. @returns where to go on after a damaged row */
  #finish({ text: piece, at }: Place, lineEnd: number | undefined, records: CsvRecord[]): Place | undefined {
    const isEnd = lineEnd === undefined;
    const record = isEnd ? piece.slice(at) : this.#rest + piece.slice(at, lineEnd);
    const place = () => (isEnd ? { text: piece, at } : this.#joined(piece, at));
    if (record.length > recordCharactersMax) return this.#fail(this.#tooLong(), place(), records);
    const isBlank = this.#blank || (this.#delimiter === undefined && !/\S/u.test(record));
    if (!isBlank && !this.#isAboveHeader(record)) {
      const isSeveral = this.#hasQuotes && this.#line - Number(!isEnd) > this.recordLine;
      if (isSeveral && isDoubtful(record, this.delimiter, this.#width)) {
        const begin = place();
        return this.#fail("unclosedQuote", begin, records, begin.at + record.length);
      }
      this.#add(record, records);
    }
    this.#begin();
    return undefined;
  }

  #add(text: string, records: CsvRecord[]): void {
    const isEscaped = this.#hasQuotes && this.#fault === undefined && hasEscapedQuote(text, this.delimiter);
    const fault = isEscaped ? "escapedQuote" : this.#fault;
    records.push({ text, line: this.recordLine, fault });
    if (this.#hasRecord) return;
    this.#hasRecord = true;
    this.#ended = this.isOfHeader;
    if (this.#delimiter === undefined) this.#readAs(this.#detect(text));
    if (fault === undefined) this.#width = shapeOf(text, this.delimiter);
  }

  #begin(): void {
    this.#rest = "";
    this.#at = cellStart;
    this.#blank = true;
    this.#fault = undefined;
    this.#hasQuotes = false;
  }

  /** Ends the header, or begins to look for the row that follows a damaged one. @returns where it is */
  #fail(fault: RecordFault, place: Place, records: CsvRecord[], soundEnd?: number): Place | undefined {
    this.#rest = "";
    if (this.#width === undefined) {
      records.push({ text: "", line: this.recordLine, fault });
      this.#ended = true;
      return undefined;
    }
    const [width, delimiter, retries] = [this.#width, this.delimiter, this.#retries];
    const damage = { width, delimiter, retries, charactersMax: recordCharactersMax, soundEnd };
    this.#damage = { row: new DamagedRow(damage, place), fault };
    return this.#recover(records);
  }

  #recover(records: CsvRecord[]): Place | undefined {
    const ended = this.#damage?.row.end(this.#isWhole);
    if (this.#damage === undefined || ended === undefined) return undefined;
    const { row, lines, next, isSound } = ended;
    if (isSound) this.#add(row, records);
    else records.push({ text: row, line: this.recordLine, fault: this.#damage.fault });
    this.#damage = undefined;
    this.recordLine += lines;
    this.#line = this.recordLine;
    this.#previousCode = lineFeed;
    this.#begin();
    return next;
  }

  #isAboveHeader(record: string): boolean {
    if (this.#hasRecord) return false;
    const named = separatorIn(record);
    if (named === undefined) return comment.test(record);
    this.stated = delimiters.find((delimiter) => delimiter === (named === "" ? "\t" : named));
    if (this.stated !== undefined && this.#delimiter === undefined) this.#readAs(this.stated);
    return true;
  }

  #tooLong(): RecordFault {
    return this.#at === quoted ? "tooLongInQuotes" : "tooLong";
  }
}

/** What Excel's line `sep=;` above a header names. */
function separatorIn(line: string): string | undefined {
  return /^\s*"?sep=(.?)"?\s*$/iu.exec(line)?.[1];
}

type Cells = readonly string[] | undefined;

/**
 * Reads the cells of records, in linear time. White space around a cell is dropped. A cell that begins with a quote ends at the next one
 * that is not doubled; within any other cell, quotes are text.
 *
 * @returns the cells of each of these records; undefined for one with a fault, or whose quotes do not fit the delimiter
 */
export async function readCells(
  records: readonly CsvRecord[],
  delimiter: Delimiter,
): Promise<(record: CsvRecord) => Cells> {
  const withQuotes = records.filter(({ text, fault }) => fault === undefined && text.includes('"'));
  const cells = withQuotes.length === 0 ? [] : await readQuoted(withQuotes, delimiter);
  const found = new Map(withQuotes.map((record, index) => [record, cells[index]]));
  return (record) => {
    if (record.fault !== undefined) return undefined;
    return found.has(record) ? found.get(record) : record.text.split(delimiter).map((cell) => cell.trim());
  };
}

/** The cells of one record, such as a header. */
export async function cellsOf(text: string, delimiter: Delimiter): Promise<Cells> {
  const record = { text, line: 1, fault: undefined };
  return (await readCells([record], delimiter))(record);
}

/** All at once; each by itself where fast-csv refuses one. */
async function readQuoted(records: readonly CsvRecord[], delimiter: Delimiter): Promise<readonly Cells[]> {
  const { parseCsv } = await import("../../lib/fastCsv.js"); // its library would make each command start later
  const rows = await parseCsv(records.map(({ text }) => `${text}\n`).join(""), delimiter);
  if (rows?.length === records.length)
    return records.map(({ text }, index) => trimmed(text, rows[index] ?? [], delimiter));
  if (records.length === 1) return [undefined];
  const each: Cells[] = [];
  for (const record of records) each.push(...(await readQuoted([record], delimiter)));
  return each;
}

const spaceBeforeQuote = { anywhere: /\s*"/uy, inTsv: /[^\S\t]*"/uy };

/** Trims cells without quotes: fast-csv leaves white space around them, or none. */
function trimmed(record: string, cells: readonly string[], delimiter: Delimiter): readonly string[] {
  if (cells.every((cell) => cell === cell.trim())) return cells;
  const pattern = delimiter === "\t" ? spaceBeforeQuote.inTsv : spaceBeforeQuote.anywhere;
  let start = 0;
  return cells.map((cell) => {
    pattern.lastIndex = start;
    const isQuoted = pattern.test(record);
    const last = isQuoted ? pattern.lastIndex + cell.length + cell.split('"').length - 1 : start;
    start = record.indexOf(delimiter, last) + 1;
    return isQuoted ? cell : cell.trim();
  });
}
