/** The cells of a row, counted. */
export interface RowShape {
  readonly cells: number;
  /** Cells up to the last one that is not empty. */
  readonly filled: number;
  /** Whether a quote is text of a cell that is not in quotes. */
  readonly hasStrayQuote: boolean;
}

interface Scan {
  /** `open`: the text ends before the row does. `none`: this is no row. */
  readonly state: "row" | "open" | "none";
  /** How far was looked. */
  readonly end: number;
  readonly shape: RowShape;
}

interface ScanOptions {
  readonly delimiter: string;
  /** No row has more. */
  readonly cellsMax?: number;
  /** Whether nothing follows the text. */
  readonly isWhole: boolean;
}

const [quote, lineFeed, carriageReturn] = [34, 10, 13] as const;
const lineEnd = /\r\n?|\n/gu;

/** Counts the cells of the row that begins at `start`. */
function scanRow(text: string, start: number, { delimiter, cellsMax = Infinity, isWhole }: ScanOptions): Scan {
  const delimiterCode = delimiter.charCodeAt(0);
  let [at, cells, filled, hasStrayQuote] = [start, 0, 0, false];
  const scan = (state: Scan["state"], end: number): Scan => ({ state, end, shape: { cells, filled, hasStrayQuote } });
  const isOpen = (close: number) => close === -1 || (!isWhole && close + 1 === text.length); // a pair may follow
  for (; cells < cellsMax; at += 1) {
    cells += 1;
    const begin = afterBlanks(text, at, delimiterCode);
    const isQuoted = text.charCodeAt(begin) === quote;
    const end = isQuoted ? closingQuote(text, begin) : afterText(text, begin, delimiterCode);
    if (isQuoted && isOpen(end)) return scan(isWhole ? "none" : "open", text.length);
    if (end > begin + Number(isQuoted)) filled = cells;
    hasStrayQuote ||= !isQuoted && text.slice(begin, end).includes('"');
    at = isQuoted ? afterBlanks(text, end + 1, delimiterCode) : end;
    if (text.charCodeAt(at) !== delimiterCode) return scan(stateAfter(text, at, isWhole), at);
  }
  return scan("none", at);
}

/** Of a row whose last cell ends here. */
function stateAfter(text: string, at: number, isWhole: boolean): Scan["state"] {
  if (at === text.length) return isWhole ? "row" : "open";
  return isLineEnd(text.charCodeAt(at)) ? "row" : "none"; // none: text after a closing quote
}

function afterBlanks(text: string, from: number, delimiterCode: number): number {
  let at = from;
  for (let next = text.charCodeAt(at); isSpace(next); next = text.charCodeAt((at += 1))) {
    if (next === delimiterCode || isLineEnd(next)) break;
  }
  return at;
}

function afterText(text: string, from: number, delimiterCode: number): number {
  for (let at = from; at < text.length; at += 1) {
    const next = text.charCodeAt(at);
    if (next === delimiterCode || isLineEnd(next)) return at;
  }
  return text.length;
}

/** -1 where the text has none. */
function closingQuote(text: string, from: number): number {
  let close = text.indexOf('"', from + 1);
  while (close !== -1 && text.charCodeAt(close + 1) === quote) close = text.indexOf('"', close + 2);
  return close;
}

function isLineEnd(code: number): boolean {
  return code === lineFeed || code === carriageReturn;
}

export interface Width {
  /** Of the header. */
  readonly cells: number;
  /** Up to the last one that has a name. */
  readonly filled: number;
}

/** Whether a row has the header's width: spreadsheets leave empty cells beyond. */
function isOfWidth({ cells, filled }: RowShape, width: Width): boolean {
  return cells >= width.filled && filled <= width.filled;
}

export function shapeOf(record: string, delimiter: string): RowShape {
  return scanRow(record, 0, { delimiter, isWhole: true }).shape;
}

/** Whether a record of several lines may have rows within: a quote that is missing is closed by that of another row. */
export function isDoubtful(record: string, delimiter: string, width: Width | undefined): boolean {
  if (width === undefined) return false;
  const shape = shapeOf(record, delimiter);
  return shape.hasStrayQuote || !isOfWidth(shape, width);
}

/** Whether a cell ends after `\\"`, as PHP's fputcsv leaves a quote within one, so that another has a quote without its pair. */
export function hasEscapedQuote(record: string, delimiter: string): boolean {
  return record.includes("\\") && escapedQuote.test(record) && shapeOf(record, delimiter).hasStrayQuote;
}

const escapedQuote = /\\"\s*[,;\t]/u;

/** Empty ones, beyond the header. */
const surplusMax = 100;

/**
 * Characters that may be read more than once in search of a row, besides some for each character of damaged rows. Then only a row on one
 * line is found, so that a file that was made for it takes linear time.
 */
export class Retries {
  #left: number;

  constructor(private readonly most: number) {
    this.#left = most;
  }

  get areSpent(): boolean {
    return this.#left <= 0;
  }

  spend(characters: number): void {
    this.#left -= characters;
  }

  earn(characters: number): void {
    this.#left = Math.min(this.most, this.#left + 4 * characters);
  }
}

interface Damage {
  readonly width: Width;
  readonly delimiter: string;
  readonly retries: Retries;
  readonly charactersMax: number;
  /** Where the row ends in the text, if it is sound because no other row begins before. */
  readonly soundEnd?: number | undefined;
}

export interface Place {
  readonly text: string;
  readonly at: number;
}

interface Ended {
  /** Empty where it is too long. */
  readonly row: string;
  /** Line ends in it, and after it. */
  readonly lines: number;
  readonly isSound: boolean;
  readonly next: Place;
}

/** A row that cannot be read. It ends at the next line end from which a whole row of the header's width can be read: none is lost. */
export class DamagedRow {
  #text: string;
  /** Where it begins, and from where its next line end is looked for. */
  #start: number;
  #from: number;
  #lines = 0;
  #isCut = false;

  constructor(
    private readonly damage: Damage,
    { text, at }: Place,
  ) {
    this.#text = text;
    [this.#start, this.#from] = [at, at];
  }

  add(text: string): void {
    this.#text = this.#text.slice(this.#start) + text;
    this.#from -= this.#start;
    this.#start = 0;
  }

  /** @returns undefined where it goes on after the text. @param isWhole whether nothing follows */
  end(isWhole: boolean): Ended | undefined {
    const { charactersMax, soundEnd } = this.damage;
    for (let line = this.#nextLine(isWhole); line !== undefined; line = this.#nextLine(isWhole)) {
      const { end, next } = line;
      const isLast = isWhole && next === this.#text.length;
      if (end === soundEnd || isLast) return this.#ended(end, next, end === soundEnd);
      const state = this.#stateAt(next, isWhole);
      if (state === "row") return this.#ended(end, next, false);
      if (state === "open" && this.#text.length - next <= charactersMax) return undefined;
      [this.#from, this.#lines] = [next, this.#lines + 1];
    }
    this.#forget(charactersMax);
    return undefined;
  }

  /** Where the next line ends, and where the one after it begins. */
  #nextLine(isWhole: boolean): { readonly end: number; readonly next: number } | undefined {
    const { length } = this.#text;
    lineEnd.lastIndex = this.#from;
    const found = lineEnd.exec(this.#text);
    this.#from = found?.index ?? length; // so that no text is searched again
    if (found === null) return isWhole ? { end: length, next: length } : undefined;
    const next = found.index + found[0].length;
    const maySplit = !isWhole && found[0] === "\r" && next === length;
    return maySplit ? undefined : { end: found.index, next };
  }

  #stateAt(start: number, isWhole: boolean): Scan["state"] {
    const { width, delimiter, retries } = this.damage;
    const options = { delimiter, cellsMax: width.cells + surplusMax };
    const { state, shape, end } = retries.areSpent
      ? this.#scanLine(start, isWhole, options)
      : scanRow(this.#text, start, { ...options, isWhole });
    retries.spend(end - start);
    return state === "row" && !isOfWidth(shape, width) ? "none" : state;
  }

  #scanLine(start: number, isWhole: boolean, options: Omit<ScanOptions, "isWhole">): Scan {
    lineEnd.lastIndex = start;
    const end = lineEnd.exec(this.#text)?.index;
    const scan = scanRow(this.#text.slice(start, end), 0, { ...options, isWhole: isWhole || end !== undefined });
    return { ...scan, end: start };
  }

  #ended(end: number, at: number, isSound: boolean): Ended {
    const { charactersMax, retries } = this.damage;
    const length = end - this.#start;
    retries.earn(length);
    const row = this.#isCut || length > charactersMax ? "" : this.#text.slice(this.#start, end);
    return { row, lines: this.#lines + Number(at > end), isSound, next: { text: this.#text, at } };
  }

  /** Keeps no more of a row that is too long than may begin the next one. */
  #forget(charactersMax: number): void {
    if (!this.#isCut && this.#text.length - this.#start <= charactersMax + 1) return;
    this.#text = this.#text.slice(this.#from); // empty, or CR that LF may follow
    [this.#start, this.#from] = [0, 0];
    this.#isCut = true;
  }
}

/** Searches natively, and each part of a text once. */
export class Finder {
  readonly #character: string;
  #text = "";
  /** There is none from here up to `#found`. */
  #from = 0;
  #found = -1;

  constructor(character: string) {
    this.#character = character;
  }

  reset(text: string): void {
    this.#text = text;
    this.#from = 0;
    this.#found = -1;
  }

  /** The length of the text where there is none. */
  from(index: number): number {
    if (this.#found < index) {
      const found = this.#text.indexOf(this.#character, index);
      this.#found = found === -1 ? this.#text.length : found;
      this.#from = index;
    } else if (index < this.#from) {
      const before = this.#text.slice(index, this.#from).indexOf(this.#character);
      if (before !== -1) this.#found = index + before;
      this.#from = index;
    }
    return this.#found;
  }
}

export class LineEnds {
  readonly #feeds = new Finder("\n");
  readonly #returns = new Finder("\r");
  #text = "";
  #codeBefore = -1;
  #counted = 0;

  /** @param codeBefore the character code before the text, to recognize a CRLF across texts */
  reset(text: string, codeBefore = -1): void {
    this.#text = text;
    this.#codeBefore = codeBefore;
    this.#counted = 0;
    this.#feeds.reset(text);
    this.#returns.reset(text);
  }

  /** The text is read once more from here. */
  rewind(index: number): void {
    this.#counted = index;
  }

  from(index: number): number {
    return Math.min(this.#feeds.from(index), this.#returns.from(index));
  }

  /** Line ends before `end` that were not counted yet. A CRLF counts at its CR. */
  count(end: number): number {
    let lines = 0;
    for (let at = this.from(this.#counted); at < end; at = this.from(at + 1)) {
      const before = at > 0 ? this.#text.charCodeAt(at - 1) : this.#codeBefore;
      if (this.#text.charCodeAt(at) !== lineFeed || before !== carriageReturn) lines += 1;
      this.#counted = at + 1;
    }
    return lines;
  }
}

/** As `trim` of strings. */
export function isSpace(code: number): boolean {
  if (code < 128) return code === 32 || (code >= 9 && code <= 13);
  return /\s/u.test(String.fromCharCode(code));
}
