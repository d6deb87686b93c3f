import { cellsOf, type Delimiter } from "../csv/cells.js";
import { type CsvRecord, RecordSplitter } from "../csv/records.js";
import { recordFaultMessage } from "../reading/csv.faults.js";
import { CellRow, type ColumnIndex, type RowEvent, type RowSource } from "./row.js";

/** Rows below the header. Blank ones are left out; missing cells at the end of a row are empty. */
export class CsvRows implements RowSource {
  readonly #splitter: RecordSplitter;
  readonly #index: ColumnIndex;
  readonly #columns: number;
  #inHeader = true;

  constructor(
    header: readonly string[],
    nameOf: (column: string) => string,
    private readonly delimiter: Delimiter,
  ) {
    this.#splitter = new RecordSplitter(delimiter);
    this.#columns = header.length;
    const index = new Map<string, number[]>();
    header.forEach((cell, at) => {
      const name = nameOf(cell);
      const found = index.get(name);
      if (found === undefined) index.set(name, [at]);
      else found.push(at);
    });
    this.#index = index;
  }

  get line(): number {
    return this.#splitter.line;
  }

  get rowLine(): number {
    return this.#splitter.recordLine;
  }

  push(text: string): RowEvent[] {
    return this.#events(this.#splitter.push(text));
  }

  end(): RowEvent[] {
    return this.#events(this.#splitter.end());
  }

  #events(records: readonly CsvRecord[]): RowEvent[] {
    const events: RowEvent[] = [];
    for (const record of records) {
      if (this.#inHeader) this.#inHeader = false;
      else events.push(...this.#eventsOf(record));
    }
    return events;
  }

  #eventsOf({ text, line, fault }: CsvRecord): RowEvent[] {
    const cells = fault === undefined ? cellsOf(text, this.delimiter)?.map((cell) => cell.trim()) : undefined;
    if (cells === undefined) {
      const ends = fault !== undefined && fault !== "textAfterQuote";
      return [{ message: recordFaultMessage(fault, this.delimiter), line, ends }];
    }
    if (cells.every((cell) => cell === "")) return [];
    if (cells.slice(this.#columns).some((cell) => cell !== "")) {
      const message = `The row has ${cells.length} cells, but the header has ${this.#columns}.`;
      return [{ message, line, ends: false }];
    }
    return [{ row: new CellRow(line, text.length, cells, this.#index) }];
  }
}
