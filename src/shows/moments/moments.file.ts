import * as z from "zod";
import type { RootDatabase } from "../../database/client.js";
import { AppError, inOrderOfRows, type Path, Problems, validationFailed } from "../../errors.js";
import { headBytes, refusePacked } from "../../files/encoding/fileKinds.js";
import { invalidLine, recordFaultMessage, widthMessage } from "../../files/csv/csv.faults.js";
import { mostFrequentDelimiter, readCells, RecordSplitter } from "../../files/csv/records.js";
import { dateTimeName } from "../../lib/dateTime.js";
import { addIssues, dateTimeSchema, oneOf } from "../../lib/json/jsonSchemas.js";
import { isObject, notJson } from "../../lib/json/parseJson.js";
import { shownValue } from "../../lib/mustBe.js";
import { clip, parseFlatJson } from "../../lib/text.js";
import { findLiveStream } from "../liveStream.js";
import { type CueFormat, cuesOf, type MomentItem } from "./cues.js";
import { type MomentInput, momentProblems, momentsMax, tooManyMoments } from "./moments.input.js";
import { saveMoments } from "./moments.save.js";
import { momentKinds } from "./moments.js";

export type MomentFormat = "csv" | "ndjson" | CueFormat;

const bytesMax = 4 * 1_048_576;

/** The messages are what problems say that a value must be. */
const text = z.string("a text");
const time = dateTimeSchema(dateTimeName);
const moment = z.strictObject({
  id: text,
  kind: oneOf(momentKinds),
  startedAt: time,
  endedAt: time.nullish(),
  productId: text.nullish(),
  host: z.strictObject({ name: text, email: text }, "an object with name and email").nullish(),
  title: text.nullish(),
} satisfies Readonly<Record<keyof MomentInput, z.ZodType>>);

/**
 * Saves the moments of a file: all of them, or none.
 *
 * @throws {AppError} LIVE_STREAM_NOT_FOUND, or VALIDATION_FAILED naming the line of each problem, or BAD_REQUEST for a file that is no text
 * or too large
 */
export async function saveMomentFile(
  db: RootDatabase,
  storeId: string,
  lsId: string,
  bytes: AsyncIterable<Buffer>,
  format: MomentFormat,
) {
  const show = await findLiveStream(db, storeId, lsId);
  const unreadable = new Problems();
  const read = await readMoments(await textOf(bytes), format, show.startedAt, unreadable);
  const moments = read.map((each) => each.moment);
  const { list: found, total: foundTotal } = momentProblems(moments, show, []);
  const placed = found.map(({ path: [index, ...path], ...problem }) => {
    return { ...problem, line: read[Number(index)]?.line ?? 1, path };
  });
  const { list, total } = inOrderOfRows(unreadable, { list: placed, total: foundTotal });
  const columnsAt = list.map((problem) => ({ ...problem, path: columnAt(problem.path) }));
  if (total > 0) throw validationFailed({ list: format === "csv" ? columnsAt : list, total });
  return saveMoments(db, storeId, lsId, moments);
}

/** @param problems receives why others cannot be read */
async function readMoments(file: string, format: MomentFormat, showStart: Date, problems: Problems) {
  const read: { readonly moment: MomentInput; readonly line: number }[] = [];
  const found =
    format === "csv"
      ? rowsOf(file)
      : format === "ndjson"
        ? objectsOf(linesOf(file))
        : cuesOf(linesOf(file), format, showStart);
  let items = 0;
  for await (const { line, value, fault } of found) {
    items += 1;
    if (items > momentsMax) {
      problems.add(tooManyMoments([]));
      break;
    }
    if (fault !== undefined) {
      problems.add({ code: "MALFORMED", message: fault, path: [], line });
      continue;
    }
    const { data, error } = moment.safeParse(value, { reportInput: true });
    if (error === undefined) read.push({ moment: data, line });
    else addIssues(error, "A moment", problems, { path: [], line });
  }
  if (items === 0) problems.add({ code: "REQUIRED", message: "The file has no moments.", path: [], line: 1 });
  return read;
}

/** The text of a file in UTF-8, or in UTF-16 with a byte order mark. */
async function textOf(bytes: AsyncIterable<Buffer>): Promise<string> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of bytes) {
    length += part.length;
    if (length > bytesMax) throw new AppError("BAD_REQUEST", `The file has more than ${bytesMax} bytes.`);
    parts.push(part);
  }
  const all = Buffer.concat(parts);
  refusePacked(all.subarray(0, headBytes), "CSV, NDJSON, SRT or WebVTT");
  const mark = all.toString("hex", 0, 2);
  const encoding = mark === "fffe" ? "UTF-16LE" : mark === "feff" ? "UTF-16BE" : "UTF-8";
  const file = new TextDecoder(encoding).decode(all);
  const invalid = file.indexOf("\u{fffd}");
  if (invalid !== -1) throw new AppError("BAD_REQUEST", invalidLine(linesOf(file.slice(0, invalid)).length, encoding));
  return file;
}

/** Lines end with LF, CRLF or CR. */
function linesOf(file: string): readonly string[] {
  return file.replaceAll(/\r\n?/gu, "\n").split("\n");
}

function* objectsOf(lines: readonly string[]): Generator<MomentItem, void> {
  for (const [index, json] of lines.entries()) {
    const line = index + 1;
    if (json.trim() === "") continue;
    try {
      const value = parseFlatJson(json);
      yield isObject(value) ? { line, value } : { line, fault: "The line is not a JSON object." };
    } catch {
      yield { line, fault: notJson(json) };
    }
  }
}

/** In CSV, a host has two columns. */
const columns = ["id", "kind", "startedAt", "endedAt", "productId", "hostName", "hostEmail", "title"];
const columnsByLetters = new Map(columns.map((name) => [name.toLowerCase(), name]));

function columnAt(path: Path): Path {
  return path[0] === "host" ? [path[1] === "email" ? "hostEmail" : "hostName"] : path;
}

async function* rowsOf(file: string): AsyncGenerator<MomentItem, void> {
  const splitter = new RecordSplitter(mostFrequentDelimiter);
  const records = [splitter.push(file), splitter.end()].flat();
  const cellsOf = await readCells(records, splitter.delimiter);
  let names: readonly string[] | undefined;
  for (const record of records) {
    const { line } = record;
    const cells = cellsOf(record);
    if (cells === undefined) yield { line, fault: recordFaultMessage(record, splitter.delimiter) };
    else if (names === undefined) names = columnsOf(cells, line);
    else if (cells.length < names.length || cells.slice(names.length).some((cell) => cell !== ""))
      yield { line, fault: widthMessage(cells.length, names.length, record.text) };
    else if (cells.some((cell) => cell !== "")) yield { line, value: momentOf(names, cells) }; // a blank row is of a spreadsheet
    if (names === undefined) return;
  }
}

/** The names of a header, which are compared by their letters. @throws {AppError} VALIDATION_FAILED naming each wrong column */
function columnsOf(header: readonly string[], line: number): readonly string[] {
  const problems = new Problems();
  const names = new Set<string>();
  for (const cell of header.slice(0, header.findLastIndex((each) => each !== "") + 1)) {
    const name = columnsByLetters.get(cell.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, ""));
    const fault =
      name === undefined ? `A moment has no column ${shownValue(cell)}.` : `The column ${name} appears twice.`;
    if (name !== undefined && !names.has(name)) names.add(name);
    else problems.add({ code: "UNKNOWN_FIELD", message: fault, path: [clip(cell)], line });
  }
  problems.throwIfAny();
  return [...names];
}

/** An empty cell is no value. */
function momentOf(names: readonly string[], cells: readonly string[]): object {
  const { hostName, hostEmail, ...others } = Object.fromEntries(
    names.flatMap((name, index) => (cells[index] === "" ? [] : [[name, cells[index]]])),
  ) as Readonly<Record<string, string>>;
  const host = { ...(hostName && { name: hostName }), ...(hostEmail && { email: hostEmail }) };
  return Object.keys(host).length === 0 ? others : { ...others, host };
}
