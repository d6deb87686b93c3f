import type { FileHandle } from "node:fs/promises";
import { readCells, type CsvRecord, mostFrequentDelimiter, RecordSplitter } from "../../files/csv/records.js";
import { AppError } from "../../errors.js";
import { columnsOf, type OrderColumn, type OrderColumns } from "./orderColumns.js";
import { faultAt } from "./orderLines.js";

/** A row of an order export. */
export interface OrderRowOfFile {
  readonly cells: Readonly<Partial<Record<OrderColumn, string>>>;
  /** The line on which it begins, from 1. */
  readonly line: number;
  readonly columns: OrderColumns;
}

/** Reads a CSV file in constant memory. @throws {AppError} naming the line that cannot be read */
export async function* rowsOf(handle: FileHandle): AsyncGenerator<OrderRowOfFile, void> {
  const splitter = new RecordSplitter(mostFrequentDelimiter);
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let [columns, headerCells]: [OrderColumns | undefined, number] = [undefined, 0];
  const take = async function* (records: readonly CsvRecord[]) {
    const cellsOf = await readCells(records, splitter.delimiter);
    for (const record of records) {
      const cells = cellsOf(record);
      if (cells === undefined) throw faultAt(record.line, "The row cannot be read as CSV: its quotes do not match.");
      if (columns === undefined) [columns, headerCells] = [columnsOf(cells, record), cells.length];
      else yield { cells: rowOf(cells, columns, headerCells, record.line), line: record.line, columns };
    }
  };
  for await (const bytes of handle.createReadStream({ start: 0, autoClose: false }) as AsyncIterable<Buffer>) {
    yield* take(splitter.push(decode(decoder, bytes)));
  }
  yield* take(splitter.push(decode(decoder)));
  yield* take(splitter.end());
}

function decode(decoder: TextDecoder, bytes?: Buffer): string {
  try {
    return decoder.decode(bytes, { stream: bytes !== undefined });
  } catch {
    throw new AppError("BAD_REQUEST", "The file is not UTF-8: export it as such.");
  }
}

/** Checks the number of cells: an unquoted comma moves all that follow, and a truncated file ends within a row. */
function rowOf(cells: readonly string[], { at, width }: OrderColumns, headerCells: number, line: number) {
  const isTooLong = cells.length > headerCells && cells.slice(headerCells).some((cell) => cell !== "");
  if (isTooLong || cells.length < width) {
    throw faultAt(line, `The row has ${cells.length} cells, and the header ${headerCells}: export the orders again.`);
  }
  return Object.fromEntries(Object.entries(at).map(([name, index]) => [name, (cells[index] ?? "").trim()]));
}
