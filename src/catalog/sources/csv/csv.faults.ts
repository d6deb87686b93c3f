import { type CsvRecord, type Delimiter, recordCharactersMax, type RecordFault } from "./records.js";
import type { CsvPiece } from "./pieces.js";
import { shownValue } from "../../../lib/mustBe.js";
import { likelyEncodings } from "../encoding/encodings.js";
import { delimiterNames } from "./csv.columns.js";

const escapedQuote =
  'In CSV, a quote within quotes is doubled (""), but PHP\'s fputcsv writes \\": there, pass an empty text as its escape character.';

const faultMessages: { readonly [F in Exclude<RecordFault, "textAfterQuote">]: string } = {
  unclosedQuote: "A quote is never closed.",
  escapedQuote: "The cells cannot be told apart.",
  tooLong: `The row is longer than ${recordCharactersMax} characters.`,
  tooLongInQuotes: `A quote is never closed, or the row is longer than ${recordCharactersMax} characters.`,
};

/** @param fault undefined where the parser of cells refused the record */
export function recordFaultMessage({ fault, text }: Pick<CsvRecord, "fault" | "text">, delimiter: Delimiter): string {
  if (fault === undefined) return "The row is not CSV.";
  const closing = `A closing quote must be followed by ${delimiterNames[delimiter]} or the end of the line.`;
  return withEscapes(fault === "textAfterQuote" ? closing : faultMessages[fault], text);
}

/** Of a row with more or fewer cells than the header has. */
export function widthMessage(cells: number, columns: number, text: string): string {
  return withEscapes(`The row has ${cells} cells, but the header has ${columns}.`, text);
}

function withEscapes(message: string, text: string): string {
  return text.includes(String.raw`\"`) ? `${message} ${escapedQuote}` : message;
}

/** Of a row with bytes that are not valid where the others are. */
export function invalidRow({ text, line }: Pick<CsvRecord, "text" | "line">): string {
  const before = text.slice(0, text.search(loneSurrogate));
  return invalidLine(line + (before.match(/\r\n?|\n/gu)?.length ?? 0), "UTF-8");
}

/** What stands for a byte that is not valid: UTF-8 has none. */
const loneSurrogate = /\p{Surrogate}/u;

export function invalidLine(line: number, encoding: string): string {
  return `Line ${line} is not valid ${encoding}.`;
}

/** Names likely encodings, and never a single one blindly: the wrong one would store other letters. */
export function invalidText(
  line: number,
  { invalidAs = "", invalid = new Uint8Array() }: Pick<CsvPiece, "invalidAs" | "invalid">,
  isCommand: boolean,
): string {
  const message = invalidLine(line, invalidAs);
  if (invalidAs !== "UTF-8") return message;
  const [name, dryRun] = isCommand ? ["--encoding NAME", "--dry-run"] : ["encoding=NAME", "dryRun=true"];
  const likely = likelyEncodings(invalid).map(({ encoding, sample }) => `${encoding} (${shownValue(sample)})`);
  const which = likely.length === 0 ? "" : ` It may be ${likely.join(", or ")}.`;
  return `${message}${which} Say which with ${name}, and see by ${dryRun} whether it reads right.`;
}
