import { type CsvRecord, type Delimiter, recordCharactersMax, type RecordFault } from "./records.js";
import type { CsvPiece } from "./csvPieces.js";
import { shownValue } from "../../lib/mustBe.js";
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

/** Those of most spreadsheets, in the order of their use; each is read by the platform itself. */
const encodings = ["windows-1252", "windows-1250", "macintosh", "windows-1251", "shift_jis", "gb18030", "euc-kr"];

const shownMax = 3;

/** Code units of the words that show how a text would read. */
const sampleUnits = 30;

const bytesMax = 2_000;

/** What windows-1252 has from 0x80 to 0x9F. */
const windows1252 = Array.from("€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8d}Ž\u{8f}\u{90}‘’“”•–—˜™š›œ\u{9d}žŸ");

interface Reading {
  readonly encoding: string;
  readonly sample: string;
  /** The share of letters among the characters beyond ASCII, less what texts of shops rarely have. */
  readonly likelihood: number;
}

/** The likely encodings of bytes that are not UTF-8, each with how a word of them would read, most likely first. */
function likelyEncodings(bytes: Uint8Array): readonly { readonly encoding: string; readonly sample: string }[] {
  const readings = encodings.flatMap((encoding) => readingOf(bytes.subarray(0, bytesMax), encoding) ?? []);
  const best = readings.toSorted((a, b) => b.likelihood - a.likelihood);
  return best.filter(({ likelihood }, at) => at === 0 || likelihood > 0.3).slice(0, shownMax);
}

function readingOf(bytes: Uint8Array, encoding: string): Reading | undefined {
  const text = decoded(bytes, encoding);
  const beyond = Array.from(text).filter((character) => character > "\u007f");
  const word = text.split(/[\s,;"]/u).find((each) => /\P{ASCII}/u.test(each)) ?? "";
  if (beyond.length === 0) return undefined;
  const count = (pattern: RegExp) => beyond.filter((character) => pattern.test(character)).length;
  const penalty = 2 * count(/[\p{Cc}\u{fffd}]/u) + count(/[\p{Sm}\p{So}\p{Sk}]/u) + oddCapitals(text) / 2;
  const likelihood = (count(/[\p{L}€–—„“”‚‘’°²³®™…«»·•]/u) - penalty) / beyond.length;
  return { encoding, sample: word.slice(0, sampleUnits), likelihood };
}

/** Some versions of Node.js decode windows-1252 as if it were ISO 8859-1. */
function decoded(bytes: Uint8Array, encoding: string): string {
  const text = new TextDecoder(encoding).decode(bytes);
  if (encoding !== "windows-1252") return text;
  return text.replaceAll(/[\u{80}-\u{9f}]/gu, (character) => windows1252[character.charCodeAt(0) - 0x80] ?? character);
}

/** Capitals within words, as a wrong encoding gives. */
function oddCapitals(text: string): number {
  return [...text.matchAll(/\p{Ll}[^\p{ASCII}]/gu)].filter(([pair]) => /\p{Lu}$/u.test(pair)).length;
}
