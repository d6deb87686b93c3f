import { type MaybeToken, RowParser, Scanner, Token } from "@fast-csv/parse/build/src/parser/index.js";
import { ParserOptions } from "fast-csv";
import { Finder, LineEnds } from "./finder.js";
import { plainCells } from "./plainCells.js";

export type Delimiter = (typeof delimiters)[number];
export const delimiters = [",", ";", "\t"] as const;

const nonSpace = /\S|\r\n|\n|\r/gu;
const nonSpaceOrTab = /\S|\r\n|\n|\r|\t/gu;

/**
 * Makes one token of each run of ordinary characters; fast-csv spends nearly all of its time on a token for each
 * character.
 */
class RunScanner extends Scanner {
  readonly #delimiters: Finder;
  readonly #quotes = new Finder('"');
  readonly #lineEnds = new LineEnds();

  readonly #nonSpace: RegExp;

  constructor(parserOptions: ParserOptions) {
    super({ line: "", parserOptions, hasMoreData: false });
    this.#delimiters = new Finder(parserOptions.delimiter);
    this.#nonSpace = parserOptions.delimiter === "\t" ? nonSpaceOrTab : nonSpace;
  }

  reset(record: string): void {
    this.line = record;
    this.lineLength = record.length;
    this.cursor = 0;
    this.#delimiters.reset(record);
    this.#quotes.reset(record);
    this.#lineEnds.reset(record);
  }

  override get nextCharacterToken(): MaybeToken {
    const { line, cursor, lineLength } = this;
    if (cursor >= lineLength) return null;
    const end = Math.min(this.#delimiters.from(cursor), this.#quotes.from(cursor), this.#lineEnds.from(cursor));
    return tokenAt(line, cursor, end === cursor ? end + 1 : end);
  }

  override get nextNonSpaceToken(): MaybeToken {
    const { line, cursor } = this;
    const code = line.charCodeAt(cursor);
    if (code > 32 && code < 127) return tokenAt(line, cursor, cursor + 1); // the usual case
    const pattern = this.#nonSpace;
    pattern.lastIndex = cursor;
    const match = pattern.exec(line);
    return match === null ? null : tokenAt(line, match.index, pattern.lastIndex);
  }
}

/** Private parts of fast-csv. */
interface CellParsers {
  readonly columnParser: {
    readonly nonQuotedColumnParser: { readonly columnFormatter: { format: (cell: string) => string } };
  };
}

/** The parser's own options trim all cells or none. */
function trimUnquoted(parser: RowParser): RowParser {
  (parser as unknown as CellParsers).columnParser.nonQuotedColumnParser.columnFormatter.format = (cell) => cell.trim();
  return parser;
}

const readers = Object.fromEntries(
  delimiters.map((delimiter) => {
    const parserOptions = new ParserOptions({ headers: false, delimiter });
    const parser = trimUnquoted(new RowParser(parserOptions));
    return [delimiter, { parser, scanner: new RunScanner(parserOptions) }];
  }),
) as Readonly<Record<Delimiter, { readonly parser: RowParser; readonly scanner: RunScanner }>>; // one for each

/** The cells of a record, trimmed unless quoted; undefined if fast-csv refuses it. */
export function cellsOf(record: string, delimiter: Delimiter = ","): readonly string[] | undefined {
  return plainCells(record, delimiter) ?? parsedCells(record, delimiter);
}

/** `cellsOf` by fast-csv alone. Its messages contain the whole input, so they are dropped. */
export function parsedCells(record: string, delimiter: Delimiter): readonly string[] | undefined {
  const { parser, scanner } = readers[delimiter];
  // fast-csv drops white space before the first cell only.
  const padded = /^\s/u.test(record);
  scanner.reset(padded ? `${delimiter}${record}` : record);
  try {
    const cells = parser.parse(scanner);
    if (cells === null || scanner.hasMoreCharacters) return undefined;
    return padded ? cells.slice(1) : cells;
  } catch {
    return undefined;
  }
}

/** Reused, since fast-csv looks at two tokens at most. */
const tokens = Array.from({ length: 4 }, () => new Token({ token: "", startCursor: 0, endCursor: 0 }));
let tokensGiven = 0;

/** Valid until three more are requested. */
function tokenAt(line: string, start: number, end: number): Token {
  tokensGiven = (tokensGiven + 1) % tokens.length;
  const token = tokens[tokensGiven] as { -readonly [Name in keyof Token]: Token[Name] };
  token.token = line.slice(start, end);
  token.startCursor = start;
  token.endCursor = end - 1;
  return token;
}
