import { Finder, LineEnds } from "./finder.js";

export type Delimiter = (typeof delimiters)[number];
export const delimiters = [",", ";", "\t"] as const;

/** All but `textAfterQuote` end the reading. */
export type RecordFault = "textAfterQuote" | "unclosedQuote" | "tooLong" | "tooLongInQuotes";

export interface CsvRecord {
  readonly text: string;
  /** The line it starts on, from 1. */
  readonly line: number;
  readonly fault: RecordFault | undefined;
}

/** The longest record, in UTF-16 code units. */
export const recordCharactersMax = 4 * 1024 * 1024;

const [quote, byteOrderMark] = [34, 0xfeff] as const;
const delimiterCodes = new Set(delimiters.map((delimiter) => delimiter.charCodeAt(0)));

/** Meta's template has a line of these above its header. */
const comment = /^\s*"?#\s*(?:required|optional|recommended)\s*\|/iu;

/** `maybeClosed`: after a quote in a quoted cell, which closes it or begins a pair. */
const [cellStart, unquoted, quoted, maybeClosed, closed] = [0, 1, 2, 3, 4] as const;

/**
 * Splits CSV text, in pieces of any size, into records in linear time. Cells are delimited as by `readCells`. Lines end with LF, CRLF or
 * CR, also within quotes. Until the delimiter is known, each one counts.
 */
export class RecordSplitter {
  recordLine = 1;
  #line = 1;
  #at: number = cellStart;
  #rest = "";
  #blank = true;
  #fault: RecordFault | undefined;
  #previousCode = -1;
  #ended = false;
  readonly #quotes = new Finder('"');
  readonly #lineEnds = new LineEnds();
  #delimiter: Delimiter | undefined;
  #delimiterCode = -1;

  /** The delimiter that a line above the header names: Excel writes `sep=;`. */
  stated: Delimiter | undefined;
  #hasRecord = false;
  readonly #detect: (record: string) => Delimiter;

  /** @param delimiter or what finds it in the first record that is not blank */
  constructor(delimiter: Delimiter | ((record: string) => Delimiter) = ",") {
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

  // oxlint-disable-next-line complexity -- the one loop over every character of a file
  push(piece: string): CsvRecord[] {
    const records: CsvRecord[] = [];
    const [quotes, lineEnds] = [this.#quotes, this.#lineEnds];
    quotes.reset(piece);
    lineEnds.reset(piece, this.#previousCode);
    let start = this.#previousCode === -1 && piece.charCodeAt(0) === byteOrderMark ? 1 : 0;
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
      } else if (nextQuote < lineEnd) {
        this.#skip(piece, index, nextQuote);
        this.#step(quote);
        index = nextQuote + 1;
      } else {
        this.#skip(piece, index, lineEnd);
        index = lineEnd + 1;
        if (lineEnd === piece.length) break;
        // A LF that completes a CRLF counts no line: its record ended at the CR.
        const lines = lineEnds.count(index);
        this.#line += lines;
        if (lines > 0) this.#finish(piece.slice(start, lineEnd), records);
        start = index;
        this.recordLine = this.#line;
      }
    }
    if (piece.length > 0) this.#previousCode = piece.charCodeAt(piece.length - 1);
    if (!this.#ended) this.#rest += piece.slice(start);
    if (this.#rest.length > recordCharactersMax) this.#stop(this.#tooLong(), records);
    return records;
  }

  end(): CsvRecord[] {
    const records: CsvRecord[] = [];
    if (this.#ended) return records;
    if (this.#at === quoted) this.#stop("unclosedQuote", records);
    else this.#finish("", records);
    return records;
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

  #finish(text: string, records: CsvRecord[]): void {
    const record = this.#rest + text;
    if (record.length > recordCharactersMax) return this.#stop(this.#tooLong(), records);
    const isBlank = this.#blank || (this.#delimiter === undefined && !/\S/u.test(record));
    if (!isBlank && !this.#isAboveHeader(record)) {
      this.#hasRecord = true;
      records.push({ text: record, line: this.recordLine, fault: this.#fault });
      if (this.#delimiter === undefined) this.#readAs(this.#detect(record));
    }
    this.#rest = "";
    this.#at = cellStart;
    this.#blank = true;
    this.#fault = undefined;
  }

  #isAboveHeader(record: string): boolean {
    if (this.#hasRecord) return false;
    const [, named] = /^\s*"?sep=(.?)"?\s*$/iu.exec(record) ?? [];
    if (named === undefined) return comment.test(record);
    this.stated = delimiters.find((delimiter) => delimiter === (named === "" ? "\t" : named));
    if (this.stated !== undefined && this.#delimiter === undefined) this.#readAs(this.stated);
    return true;
  }

  #tooLong(): RecordFault {
    return this.#at === quoted ? "tooLongInQuotes" : "tooLong";
  }

  #stop(fault: RecordFault, records: CsvRecord[]): void {
    records.push({ text: "", line: this.recordLine, fault });
    this.#rest = "";
    this.#ended = true;
  }
}

/** As `trim` of strings. */
function isSpace(code: number): boolean {
  if (code < 128) return code === 32 || (code >= 9 && code <= 13);
  return /\s/u.test(String.fromCharCode(code));
}
