import type { Delimiter } from "../csv/cells.js";
import { recordCharactersMax, type RecordFault } from "../csv/records.js";
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

export function invalidText(line: number, encoding: string): string {
  const message = `Line ${line} is not valid ${encoding}.`;
  if (encoding !== "UTF-8") return message;
  return `${message} If it has another encoding, name it: --encoding windows-1252, or encoding=windows-1252 over REST.`;
}
