import { readCells } from "../../csv/recordCells.js";
import { type Delimiter, type CsvRecord, RecordSplitter } from "../../csv/records.js";
import { recordFaultMessage } from "../../csv/csv.faults.js";
import { columnName } from "../layout.js";
import { CellRow, type ColumnIndex, type RowEvent, type RowSource } from "./row.js";

type CellsOf = Awaited<ReturnType<typeof readCells>>;

/** What Magento writes for a value that is empty. */
const emptyValue = "__EMPTY__VALUE__";

/** Rows below the header. Blank ones are left out; missing cells at the end of a row are empty. */
export class CsvRows implements RowSource {
  readonly #splitter: RecordSplitter;
  readonly #index: ColumnIndex;
  readonly #columns: number;
  #inHeader = true;

  constructor(
    header: readonly string[],
    private readonly delimiter: Delimiter,
    private readonly escapesFormulas = false,
  ) {
    this.#splitter = new RecordSplitter(delimiter);
    this.#columns = header.length;
    const index = new Map<string, number[]>();
    header.forEach((cell, at) => {
      const name = columnName(cell);
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

  push(text: string): Promise<Iterable<RowEvent>> {
    return this.#read(this.#splitter.push(text));
  }

  end(): Promise<Iterable<RowEvent>> {
    return this.#read(this.#splitter.end());
  }

  async #read(records: readonly CsvRecord[]): Promise<Iterable<RowEvent>> {
    return this.#events(records, await readCells(records, this.delimiter));
  }

  /** One after the other: the cells of all would outlive V8's collections of young objects. */
  *#events(records: readonly CsvRecord[], cellsOf: CellsOf): Generator<RowEvent, void> {
    for (const record of records) {
      if (this.#inHeader) this.#inHeader = false;
      else {
        const event = this.#eventOf(record, cellsOf(record));
        if (event !== undefined) yield event;
      }
    }
  }

  #eventOf({ text, line, fault }: CsvRecord, found: ReturnType<CellsOf>): RowEvent | undefined {
    if (found === undefined) {
      const ends = fault !== undefined && fault !== "textAfterQuote";
      return { message: recordFaultMessage(fault, this.delimiter), line, ends };
    }
    const texts = isPlain(text) || found.every(isText) ? found : found.map(textOf);
    const cells = this.escapesFormulas && text.includes("'") ? texts.map(withoutEscape) : texts;
    const last = cells.findLastIndex((cell) => cell !== "");
    if (last === -1) return undefined;
    if (last >= this.#columns) {
      const message = `The row has ${cells.length} cells, but the header has ${this.#columns}.`;
      return { message, line, ends: false };
    }
    return { row: new CellRow(line, text.length, cells, this.#index) };
  }
}

/** Whether all cells of a record are trimmed texts: those without quotes are. */
function isPlain(record: string): boolean {
  return !record.includes('"') && !record.includes(emptyValue);
}

function isText(cell: string): boolean {
  return cell === textOf(cell);
}

function withoutEscape(text: string): string {
  return /^'[=+\-@]/u.test(text) ? text.slice(1) : text;
}

function textOf(cell: string): string {
  const text = cell.trim();
  return text === emptyValue ? "" : text;
}
