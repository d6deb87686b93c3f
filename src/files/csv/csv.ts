import type { Path, Problem, Problems } from "../../errors.js";
import { readCells, type Delimiter, type CsvRecord, RecordSplitter } from "./records.js";
import type { CsvPiece } from "./csvPieces.js";
import { ChunkBuilder, type ChunkOptions, type ProductChunk } from "../chunk.js";
import { cellParsers, delimiterOf, headerColumns } from "./csv.columns.js";
import { invalidRow, invalidText, recordFaultMessage, widthMessage } from "./csv.faults.js";
import { type ErrorPolicy, type FailedRows, RowChecks } from "../rowChecks.js";
import { withoutInvisibleEnds } from "../../lib/text.js";
import { invisibleNote, Notes } from "../formats/notes.js";
import type { FieldName, ProductInput } from "../product/product.fields.js";
import { checkProduct } from "../product/product.input.js";

export interface CsvChunk extends ProductChunk {
  /** In the source: bytes of a file, UTF-16 code units of a text. */
  readonly bytesRead: number;
}

export interface CsvResult {
  readonly rows: number;
  /** Rows that are neither products nor failed; notes name them. */
  readonly skipped?: number;
  readonly problems: { readonly list: Problem[]; readonly total: number };
  /** With REJECT_FAILED: the invalid rows, so that `problems` are those of the whole text. */
  readonly failed?: FailedRows;
  /** The first valid products, if asked for. */
  readonly preview?: readonly Partial<ProductInput>[];
  readonly format?: string;
  /** With the first products: what each column of another system's file is used for. */
  readonly columns?: Readonly<Record<string, string>>;
  /** What the file has that is not stored, and how it was read. */
  readonly notes?: readonly string[];
}

export type FileReading = Pick<CsvResult, "format" | "notes" | "skipped" | "preview" | "columns">;

export interface CsvOptions extends ChunkOptions {
  readonly rowsMax?: number;
  readonly pathPrefix?: Path;
  /** REJECT_ALL by default. */
  readonly errorPolicy?: ErrorPolicy;
  /** Found in the header by default. */
  readonly delimiter?: Delimiter | undefined;
  readonly preview?: boolean;
  /** Whether messages may name options of the command line. */
  readonly isCommand?: boolean | undefined;
}

/** Shown by a dry run, as they would be stored. */
export const previewProducts = 3;

/**
 * Reads in constant memory. With REJECT_ALL, commit the chunks only if none has an invalid row, and the result has no problem.
 */
export async function* readCsv(
  pieces: AsyncIterable<CsvPiece> | Iterable<CsvPiece>,
  options: CsvOptions = {},
): AsyncGenerator<CsvChunk, CsvResult> {
  const reader = new ProductCsvReader(options);
  for await (const piece of pieces) {
    yield* reader.read(piece);
    if (reader.ended) break;
  }
  yield* reader.finish();
  return reader.result;
}

class ProductCsvReader {
  ended = false;
  #hasInvalid = false;
  readonly #notes = new Notes();
  #notedLine = 0;
  readonly #splitter: RecordSplitter;
  readonly #checks: RowChecks;
  readonly #rowsMax: number;
  readonly #path: Path;
  #columns: readonly FieldName[] | undefined;
  #rows = 0;
  #bytesRead = 0;
  readonly #chunk: ChunkBuilder;
  readonly #preview: Partial<ProductInput>[] | undefined;
  readonly #isPatch: boolean;
  readonly #isCommand: boolean;

  constructor(options: CsvOptions) {
    const { rowsMax = Infinity, pathPrefix = [], errorPolicy = "REJECT_ALL" } = options;
    const { delimiter, preview = false, isPatch = false, isCommand = false } = options;
    this.#isPatch = isPatch;
    this.#isCommand = isCommand;
    this.#splitter = new RecordSplitter(delimiter ?? delimiterOf);
    this.#checks = new RowChecks(errorPolicy);
    this.#chunk = new ChunkBuilder(this.#checks, options);
    this.#rowsMax = rowsMax;
    this.#path = pathPrefix;
    this.#preview = preview ? [] : undefined;
  }

  get result(): CsvResult {
    const { list: notes } = this.#notes;
    return {
      rows: this.#rows,
      ...this.#checks.found,
      ...(notes.length > 0 && { notes }),
      ...(this.#preview && { preview: this.#preview }),
    };
  }

  async *read({ text, bytesRead, invalidAs, invalid, hasInvalid }: CsvPiece): AsyncGenerator<CsvChunk, void> {
    this.#bytesRead = bytesRead;
    this.#hasInvalid ||= hasInvalid === true;
    yield* this.#takeAll(this.#splitter.push(text));
    if (invalidAs !== undefined && !this.ended) {
      const { line, recordLine } = this.#splitter;
      this.#malformed(
        this.#checks.problems,
        invalidText(line, { invalidAs, ...(invalid && { invalid }) }, this.#isCommand),
        recordLine,
      );
      this.ended = true;
    }
  }

  async *finish(): AsyncGenerator<CsvChunk, void> {
    if (!this.ended) yield* this.#takeAll(this.#splitter.end());
    if (!this.ended && this.#columns === undefined) {
      const message = "The CSV text is empty: it must start with a line of column names.";
      this.#checks.problems.add({ code: "REQUIRED", message, path: this.#path });
    }
    yield* this.#takeChunk();
  }

  async *#takeAll(records: readonly CsvRecord[]): AsyncGenerator<CsvChunk, void> {
    const cellsOf = await readCells(records, this.#splitter.delimiter);
    for (const record of records) {
      if (this.ended) return;
      this.#take(record, cellsOf(record));
      if (this.#chunk.full) yield* this.#takeChunk();
    }
  }

  *#takeChunk(): Generator<CsvChunk, void> {
    if (this.#chunk.rows === 0) return;
    yield { bytesRead: this.#bytesRead, ...this.#chunk.take() };
  }

  #take(record: CsvRecord, cells: readonly string[] | undefined): void {
    const { text, line } = record;
    const inHeader = this.#columns === undefined;
    if (!inHeader && cells?.every((cell) => cell === "") === true) return; // as spreadsheets leave them
    if (this.#columns !== undefined && this.#rows >= this.#rowsMax) {
      const message = `The CSV text must have at most ${this.#rowsMax} rows below its header (MAX_BULK_PRODUCTS).`;
      this.#checks.problems.add({ code: "TOO_LONG", message, path: this.#path, line });
      this.ended = true;
      return;
    }
    if (!inHeader) this.#rows += 1;
    if (cells === undefined) {
      this.ended = inHeader;
      const problems = inHeader ? this.#checks.problems : this.#checks.row;
      this.#malformed(problems, recordFaultMessage(record, this.#splitter.delimiter), line);
    } else if (this.#hasInvalid && !text.isWellFormed()) {
      this.#malformed(this.#checks.row, invalidRow(record), line);
    } else if (inHeader) {
      this.#takeHeader(cells, line);
    } else {
      this.#takeRow(cells, text, line);
    }
    this.#checks.endRow(line);
  }

  #takeHeader(cells: readonly string[], line: number): void {
    const place = {
      path: this.#path,
      line,
      delimiter: this.#splitter.delimiter,
      isPatch: this.#isPatch,
      isCommand: this.#isCommand,
    };
    const named = cells.slice(0, cells.findLastIndex((cell) => cell.trim() !== "") + 1); // as spreadsheets leave them
    this.#columns = headerColumns(named, place, this.#checks.problems);
    this.ended = this.#checks.problems.total > 0;
  }

  #takeRow(cells: readonly string[], text: string, line: number): void {
    const columns = this.#columns ?? [];
    const surplus = cells.slice(columns.length);
    if (cells.length < columns.length || surplus.some((cell) => cell !== "")) {
      return this.#malformed(this.#checks.row, widthMessage(cells.length, columns.length, text), line);
    }
    const candidate: Partial<Record<FieldName, unknown>> = {};
    columns.forEach((name, index) => {
      const cell = cells[index] ?? "";
      candidate[name] = cellParsers[name](name === "id" || name === "sku" ? this.#visible(cell, line) : cell);
    });
    const digitsOf = (name: FieldName) => cells[columns.indexOf(name)];
    const isValid = checkProduct(candidate, { path: this.#path, line, digitsOf }, this.#checks.row, this.#isPatch);
    if (isValid && this.#preview !== undefined && this.#preview.length < previewProducts) this.#preview.push(candidate);
    this.#chunk.addSent(candidate, { line, isValid }, text.length);
  }

  #visible(key: string, line: number): string {
    const visible = withoutInvisibleEnds(key);
    if (visible !== key && this.#notedLine !== line) this.#notes.count(invisibleNote, (this.#notedLine = line));
    return visible;
  }

  #malformed(problems: Problems, message: string, line: number): void {
    problems.add({ code: "MALFORMED", message, path: this.#path, line });
  }
}
