import { type Delimiter, recordCharactersMax, type RecordFault } from "./records.js";
import type { CsvPiece } from "./pieces.js";
import { shownValue } from "../../../lib/mustBe.js";
import { likelyEncodings } from "../encoding/encodings.js";
import { delimiterNames } from "./csv.columns.js";

const faultMessages: { readonly [F in Exclude<RecordFault, "textAfterQuote">]: string } = {
  unclosedQuote: "A quote is never closed.",
  tooLong: `The row is longer than ${recordCharactersMax} characters.`,
  tooLongInQuotes: `A quote is never closed, or the row is longer than ${recordCharactersMax} characters.`,
};

/** `fault` is undefined where the parser of cells refused the record. */
export function recordFaultMessage(fault: RecordFault | undefined, delimiter: Delimiter): string {
  if (fault === undefined) return "The row is not CSV.";
  if (fault !== "textAfterQuote") return faultMessages[fault];
  return `A closing quote must be followed by ${delimiterNames[delimiter]} or the end of the line.`;
}

/** Names likely encodings, and never a single one blindly: the wrong one would store other letters. */
export function invalidText(
  line: number,
  { invalidAs = "", invalid = new Uint8Array() }: Pick<CsvPiece, "invalidAs" | "invalid">,
  isCommand: boolean,
): string {
  const message = `Line ${line} is not valid ${invalidAs}.`;
  if (invalidAs !== "UTF-8") return message;
  const [name, dryRun] = isCommand ? ["--encoding NAME", "--dry-run"] : ["encoding=NAME", "dryRun=true"];
  const likely = likelyEncodings(invalid).map(({ encoding, sample }) => `${encoding} (${shownValue(sample)})`);
  const which = likely.length === 0 ? "" : ` It may be ${likely.join(", or ")}.`;
  return `${message}${which} Say which with ${name}, and see by ${dryRun} whether it reads right.`;
}
