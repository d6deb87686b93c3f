import { readCells, type Delimiter, type CsvRecord, RecordSplitter } from "../../csv/records.js";
import { invalidRow, recordFaultMessage, widthMessage } from "../../csv/csv.faults.js";
import { columnName } from "../layout.js";
import { withoutInvisibleEnds } from "../../../lib/text.js";
import { invisibleNote } from "../notes.js";
import { CellRow, type ColumnIndex, type KeyReading, type RowEvent, type RowSource } from "./row.js";

type CellsOf = Awaited<ReturnType<typeof readCells>>;

/** What Magento writes for an empty value. */
const emptyValue = "__EMPTY__VALUE__";

/** Rows below the header, without blank ones. Missing cells at the end of a row are empty. */
export class CsvRows implements RowSource {
  readonly #splitter: RecordSplitter;
  readonly #index: ColumnIndex;
  readonly #columns: number;
  #inHeader = true;

  /** In their order. */
  readonly #keys: readonly number[];
  private readonly delimiter: Delimiter;

  constructor(
    { header, delimiter }: { readonly header: readonly string[]; readonly delimiter: Delimiter },
    private readonly reading: KeyReading & { readonly escapesFormulas?: boolean | undefined },
  ) {
    this.delimiter = delimiter;
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
    this.#keys = [...reading.keys].flatMap((name) => index.get(name) ?? []).toSorted((one, other) => one - other);
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

  /** Lazily, because the cells of all rows would outlive V8's collections of young objects. */
  *#events(records: readonly CsvRecord[], cellsOf: CellsOf): Generator<RowEvent, void> {
    for (const record of records) {
      if (this.#inHeader) this.#inHeader = false;
      else {
        const event = this.#eventOf(record, cellsOf(record));
        if (event !== undefined) yield event;
      }
    }
  }

  #eventOf(record: CsvRecord, found: ReturnType<CellsOf>): RowEvent | undefined {
    const { text, line } = record;
    if (found === undefined) return { message: recordFaultMessage(record, this.delimiter), line, ends: false };
    if (!text.isWellFormed()) return { message: invalidRow(record), line, ends: false };
    const texts = isPlain(text) || found.every(isText) ? found : found.map(trimmedCell);
    const written = this.reading.escapesFormulas === true && text.includes("'") ? texts.map(withoutEscape) : texts;
    const cells = this.#withVisibleKeys(written, line);
    const last = cells.findLastIndex((cell) => cell !== "");
    if (last === -1) return undefined;
    if (last >= this.#columns) {
      return { message: widthMessage(cells.length, this.#columns, text), line, ends: false };
    }
    return { row: new CellRow(line, text.length, cells, this.#index) };
  }

  /** Takes time by the cells of the row, which may be far shorter than its header. */
  #withVisibleKeys(cells: readonly string[], line: number): readonly string[] {
    let visible: string[] | undefined;
    for (const at of this.#keys) {
      if (at >= cells.length) break;
      const [cell, seen] = [cells[at] as string, withoutInvisibleEnds(cells[at] as string)]; // within its length
      if (seen === cell) continue;
      visible ??= [...cells];
      visible[at] = seen;
    }
    if (visible === undefined) return cells;
    this.reading.notes.count(invisibleNote, line);
    return visible;
  }
}

/** Whether all cells of a record are already trimmed, because it has no quotes. */
function isPlain(record: string): boolean {
  return !record.includes('"') && !record.includes(emptyValue);
}

function isText(cell: string): boolean {
  return cell === trimmedCell(cell);
}

function withoutEscape(text: string): string {
  return /^'[=+\-@]/u.test(text) ? text.slice(1) : text;
}

function trimmedCell(cell: string): string {
  const text = cell.trim();
  return text === emptyValue ? "" : text;
}
