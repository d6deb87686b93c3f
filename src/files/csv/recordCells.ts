import type { CsvRecord, Delimiter } from "./records.js";

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
  const quoted = records.filter(({ text, fault }) => fault === undefined && text.includes('"'));
  const cells = quoted.length === 0 ? [] : await readQuoted(quoted, delimiter);
  const found = new Map(quoted.map((record, index) => [record, cells[index]]));
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
  const { parseCsv } = await import("../../lib/writeCsv.js"); // its library would make each command start later
  const rows = await parseCsv(records.map(({ text }) => `${text}\n`).join(""), delimiter);
  if (rows?.length === records.length)
    return records.map(({ text }, index) => trimmed(text, rows[index] ?? [], delimiter));
  if (records.length === 1) return [undefined];
  const each: Cells[] = [];
  for (const record of records) each.push(...(await readQuoted([record], delimiter)));
  return each;
}

const spaceBeforeQuote = /\s*"/uy;

/** Trims cells without quotes: fast-csv leaves white space around them, or none. */
function trimmed(record: string, cells: readonly string[], delimiter: Delimiter): readonly string[] {
  if (cells.every((cell) => cell === cell.trim())) return cells;
  let start = 0;
  return cells.map((cell) => {
    spaceBeforeQuote.lastIndex = start;
    const isQuoted = spaceBeforeQuote.test(record);
    const last = isQuoted ? spaceBeforeQuote.lastIndex + cell.length + cell.split('"').length - 1 : start;
    start = record.indexOf(delimiter, last) + 1;
    return isQuoted ? cell : cell.trim();
  });
}
