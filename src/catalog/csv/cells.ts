import { type MaybeToken, RowParser, Scanner, Token } from "@fast-csv/parse/build/src/parser/index.js";
import { ParserOptions } from "fast-csv";
import { Finder, LineEnds } from "./finder.js";

const parserOptions = new ParserOptions({ headers: false });
const rowParser = trimUnquoted(new RowParser(parserOptions));
const nonSpace = /\S|\r\n|\n|\r/gu;

/**
 * fast-csv's scanner makes a token of every single character, which is where nearly all of its time goes. Its parsers
 * take longer tokens as well, so this one makes a single token of a run of characters that mean nothing to them.
 */
class RunScanner extends Scanner {
  readonly #commas = new Finder(",");
  readonly #quotes = new Finder('"');
  readonly #lineEnds = new LineEnds();

  /** Starts over with another record. */
  reset(record: string): void {
    this.line = record;
    this.lineLength = record.length;
    this.cursor = 0;
    this.#commas.reset(record);
    this.#quotes.reset(record);
    this.#lineEnds.reset(record);
  }

  override get nextCharacterToken(): MaybeToken {
    const { line, cursor, lineLength } = this;
    if (cursor >= lineLength) return null;
    const end = Math.min(this.#commas.from(cursor), this.#quotes.from(cursor), this.#lineEnds.from(cursor));
    return tokenAt(line, cursor, end === cursor ? end + 1 : end);
  }

  override get nextNonSpaceToken(): MaybeToken {
    const { line, cursor } = this;
    const code = line.charCodeAt(cursor);
    if (code > 32 && code < 127) return tokenAt(line, cursor, cursor + 1); // the usual case, without a search
    nonSpace.lastIndex = cursor;
    const match = nonSpace.exec(line);
    return match === null ? null : tokenAt(line, match.index, nonSpace.lastIndex);
  }
}

/** What is private in fast-csv: a parser for each of the two kinds of cells, each with what it does to a cell at last. */
interface CellParsers {
  readonly columnParser: {
    readonly nonQuotedColumnParser: { readonly columnFormatter: { format: (cell: string) => string } };
  };
}

/**
 * Lets a parser trim the cells that are not quoted, and no others: by its options it trims all or none. A fast-csv that is
 * built otherwise is noticed at once, when this file is loaded.
 */
function trimUnquoted(parser: RowParser): RowParser {
  (parser as unknown as CellParsers).columnParser.nonQuotedColumnParser.columnFormatter.format = (cell) => cell.trim();
  return parser;
}

const scanner = new RunScanner({ line: "", parserOptions, hasMoreData: false });

/**
 * The cells of one CSV record, given without its line end, as fast-csv parses them: trimmed unless they are quoted. Undefined if it takes the text for
 * something else than one record. Its error messages hold the whole input, so they stop here.
 */
export function cellsOf(record: string): readonly string[] | undefined {
  // fast-csv drops a byte order mark and white space before the first cell, but not before later ones.
  const padded = /^\s/u.test(record);
  scanner.reset(padded ? `,${record}` : record);
  try {
    const cells = rowParser.parse(scanner);
    if (cells === null || scanner.hasMoreCharacters) return undefined;
    return padded ? cells.slice(1) : cells;
  } catch {
    return undefined;
  }
}

/** fast-csv's parsers look at two tokens at a time at most; new ones would be most of the garbage that reading makes. */
const tokens = Array.from({ length: 4 }, () => new Token({ token: "", startCursor: 0, endCursor: 0 }));
let tokensGiven = 0;

/** A token, valid until three more have been asked for. */
function tokenAt(line: string, start: number, end: number): Token {
  tokensGiven = (tokensGiven + 1) % tokens.length;
  const token = tokens[tokensGiven] as { -readonly [Name in keyof Token]: Token[Name] };
  token.token = line.slice(start, end);
  token.startCursor = start;
  token.endCursor = end - 1;
  return token;
}
