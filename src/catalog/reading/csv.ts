import type { Path, Problem, Problems } from "../../errors.js";
import { cellsOf, type Delimiter } from "../csv/cells.js";
import type { CsvPiece } from "../csv/pieces.js";
import { type CsvRecord, RecordSplitter } from "../csv/records.js";
import type { EncodedRows } from "../product.columns.js";
import { ChunkBuilder, type ChunkOptions } from "./chunk.js";
import { cellParsers, delimiterOf, headerColumns } from "./csv.columns.js";
import { invalidText, recordFaultMessage } from "./csv.faults.js";
import { type ErrorPolicy, type FailedRows, RowChecks } from "./rowChecks.js";
import { checkerOf, type ProductInput } from "../product.input.js";

export interface CsvChunk {
  readonly rows: number;
  /** In the source: bytes of a file, UTF-16 code units of a text. */
  readonly bytesRead: number;
  readonly columns: EncodedRows;
  /** So far: problems, and failed rows. */
  readonly faults: number;
}

export interface CsvResult {
  readonly rows: number;
  readonly problems: { readonly list: Problem[]; readonly total: number };
  /** With REJECT_FAILED: the invalid rows, so that `problems` are those of the whole text. */
  readonly failed?: FailedRows;
  /** The first valid products, if asked for. */
  readonly preview?: readonly Partial<ProductInput>[];
  readonly format?: string;
  /** What the file has that is not stored, and how it was read. */
  readonly notes?: readonly string[];
}

export type FileReading = Pick<CsvResult, "format" | "notes" | "preview">;

export interface CsvOptions extends ChunkOptions {
  readonly rowsMax?: number;
  readonly pathPrefix?: Path;
  /** REJECT_ALL by default. */
  readonly errorPolicy?: ErrorPolicy;
  /** Found in the header by default. */
  readonly delimiter?: Delimiter | undefined;
  readonly preview?: boolean;
}

/** Shown by a dry run, as they would be stored. */
export const previewProducts = 3;

/**
 * Reads in constant memory. Chunks contain the keys of invalid rows, to report conflicts too: commit them only if the
 * result has no problem.
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
  readonly #splitter: RecordSplitter;
  readonly #checks: RowChecks;
  readonly #rowsMax: number;
  readonly #path: Path;
  #columns: readonly (keyof ProductInput)[] | undefined;
  #rows = 0;
  #bytesRead = 0;
  readonly #chunk: ChunkBuilder;
  readonly #preview: Partial<ProductInput>[] | undefined;
  readonly #isPatch: boolean;

  constructor(options: CsvOptions) {
    const { rowsMax = Infinity, pathPrefix = [], errorPolicy = "REJECT_ALL" } = options;
    const { delimiter, preview = false, isPatch = false } = options;
    this.#isPatch = isPatch;
    this.#splitter = new RecordSplitter(delimiter ?? delimiterOf);
    this.#checks = new RowChecks(errorPolicy);
    this.#chunk = new ChunkBuilder(this.#checks, options);
    this.#rowsMax = rowsMax;
    this.#path = pathPrefix;
    this.#preview = preview ? [] : undefined;
  }

  get result(): CsvResult {
    return { rows: this.#rows, ...this.#checks.found, ...(this.#preview && { preview: this.#preview }) };
  }

  *read({ text, bytesRead, invalidAs }: CsvPiece): Generator<CsvChunk, void> {
    this.#bytesRead = bytesRead;
    yield* this.#takeAll(this.#splitter.push(text));
    if (invalidAs !== undefined && !this.ended) {
      const { line, recordLine } = this.#splitter;
      this.#malformed(this.#checks.problems, invalidText(line, invalidAs), recordLine);
      this.ended = true;
    }
  }

  *finish(): Generator<CsvChunk, void> {
    if (!this.ended) yield* this.#takeAll(this.#splitter.end());
    if (!this.ended && this.#columns === undefined) {
      const message = "The CSV text is empty: it must start with a line of column names.";
      this.#checks.problems.add({ code: "REQUIRED", message, path: this.#path });
    }
    yield* this.#takeChunk();
  }

  *#takeAll(records: readonly CsvRecord[]): Generator<CsvChunk, void> {
    for (const record of records) {
      if (this.ended) return;
      this.#take(record);
      if (this.#chunk.full) yield* this.#takeChunk();
    }
  }

  *#takeChunk(): Generator<CsvChunk, void> {
    if (this.#chunk.rows === 0) return;
    yield { bytesRead: this.#bytesRead, faults: this.#checks.faults, ...this.#chunk.take() };
  }

  #take({ text, line, fault }: CsvRecord): void {
    if (this.#columns !== undefined && this.#rows >= this.#rowsMax) {
      const message = `The CSV text must have at most ${this.#rowsMax} rows below its header (MAX_BULK_PRODUCTS).`;
      this.#checks.problems.add({ code: "TOO_LONG", message, path: this.#path, line });
      this.ended = true;
      return;
    }
    const inHeader = this.#columns === undefined;
    if (!inHeader) this.#rows += 1;
    const cells = fault === undefined ? cellsOf(text, this.#splitter.delimiter) : undefined;
    if (cells === undefined) {
      this.ended = inHeader || fault !== "textAfterQuote";
      const problems = this.ended ? this.#checks.problems : this.#checks.row;
      this.#malformed(problems, recordFaultMessage(fault, this.#splitter.delimiter), line);
    } else if (inHeader) {
      this.#takeHeader(cells, line);
    } else {
      this.#takeRow(cells, text.length, line);
    }
    this.#checks.endRow(line);
  }

  #takeHeader(cells: readonly string[], line: number): void {
    const place = { path: this.#path, line, delimiter: this.#splitter.delimiter, isPatch: this.#isPatch };
    this.#columns = headerColumns(cells, place, this.#checks.problems);
    this.ended = this.#checks.problems.total > 0;
  }

  #takeRow(cells: readonly string[], characters: number, line: number): void {
    const columns = this.#columns ?? [];
    if (cells.length !== columns.length) {
      return this.#malformed(
        this.#checks.row,
        `The row has ${cells.length} cells, but the header has ${columns.length}.`,
        line,
      );
    }
    const candidate: Partial<Record<keyof ProductInput, unknown>> = {};
    columns.forEach((name, index) => {
      candidate[name] = cellParsers[name](cells[index] ?? "");
    });
    const isValid = checkerOf(this.#isPatch)(candidate, { path: this.#path, line }, this.#checks.row);
    if (isValid && this.#preview !== undefined && this.#preview.length < previewProducts)
      this.#preview.push(candidate as Partial<ProductInput>); // checked
    this.#chunk.addSent(candidate, { line, isValid }, characters);
  }

  #malformed(problems: Problems, message: string, line: number): void {
    problems.add({ code: "MALFORMED", message, path: this.#path, line });
  }
}
