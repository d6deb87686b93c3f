import type { Path, Problem, Problems } from "../../errors.js";
import { cellsOf } from "../csv/cells.js";
import type { CsvPiece } from "../csv/pieces.js";
import { type CsvRecord, recordCharactersMax, type RecordFault, RecordSplitter } from "../csv/records.js";
import { type EncodedRows, productKeys } from "../product.columns.js";
import { ChunkBuilder } from "./chunk.js";
import { cellParsers, headerColumns } from "./csv.columns.js";
import { type ErrorPolicy, type FailedRows, RowChecks } from "./rowChecks.js";
import { checkProduct, type ProductInput } from "../product.input.js";

export interface CsvChunk {
  readonly rows: number;
  /** The position in the source: bytes of a file, UTF-16 code units of a text. */
  readonly bytesRead: number;
  readonly columns: EncodedRows;
  readonly isValid: boolean;
}

export interface CsvResult {
  readonly rows: number;
  readonly problems: { readonly list: Problem[]; readonly total: number };
  /** With REJECT_FAILED: the invalid rows. `problems` are those of the text as a whole then. */
  readonly failed?: FailedRows;
}

export interface CsvOptions {
  readonly rowsMax?: number;
  readonly pathPrefix?: Path;
  /** REJECT_ALL by default. */
  readonly errorPolicy?: ErrorPolicy;
  /** Whether the keys of rows suffice. */
  readonly keysOnly?: boolean;
}

const faultMessages: { readonly [F in RecordFault]: string } = {
  textAfterQuote: "A closing quote must be followed by a comma or the end of the line.",
  unclosedQuote: "A quote is never closed.",
  tooLong: `The row is longer than ${recordCharactersMax} characters.`,
  tooLongInQuotes: `A quote is never closed, or the row is longer than ${recordCharactersMax} characters.`,
};

/**
 * Reads products from CSV text in constant memory. Chunks contain the keys of invalid rows, to report conflicts too:
 * commit them only if the result has no problem.
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
  readonly #splitter = new RecordSplitter();
  readonly #checks: RowChecks;
  readonly #rowsMax: number;
  readonly #path: Path;
  #columns: readonly (keyof ProductInput)[] | undefined;
  #rows = 0;
  #bytesRead = 0;
  readonly #chunk: ChunkBuilder;

  constructor({ rowsMax = Infinity, pathPrefix = [], errorPolicy = "REJECT_ALL", keysOnly }: CsvOptions) {
    this.#chunk = new ChunkBuilder(keysOnly);
    this.#checks = new RowChecks(errorPolicy);
    this.#rowsMax = rowsMax;
    this.#path = pathPrefix;
  }

  get result(): CsvResult {
    return { rows: this.#rows, ...this.#checks.found };
  }

  *read({ text, bytesRead, notUtf8 = false }: CsvPiece): Generator<CsvChunk, void> {
    this.#bytesRead = bytesRead;
    yield* this.#takeAll(this.#splitter.push(text));
    if (notUtf8 && !this.ended) {
      this.#malformed(
        this.#checks.problems,
        `Line ${this.#splitter.line} is not valid UTF-8.`,
        this.#splitter.recordLine,
      );
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
    yield { bytesRead: this.#bytesRead, isValid: this.#checks.isValid, ...this.#chunk.take() };
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
    const cells = fault === undefined ? cellsOf(text) : undefined;
    if (cells === undefined) {
      this.ended = inHeader || fault !== "textAfterQuote";
      const problems = this.ended ? this.#checks.problems : this.#checks.row;
      this.#malformed(problems, fault === undefined ? "The row is not CSV." : faultMessages[fault], line);
    } else if (inHeader) {
      this.#takeHeader(cells, line);
    } else {
      this.#takeRow(cells, text.length, line);
    }
    this.#checks.endRow(line);
  }

  #takeHeader(cells: readonly string[], line: number): void {
    this.#columns = headerColumns(cells, { path: this.#path, line }, (problem) => this.#checks.problems.add(problem));
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
    const product = checkProduct(candidate, { path: this.#path, line }, this.#checks.row)
      ? candidate
      : productKeys(candidate);
    if (product === undefined) return;
    this.#chunk.add({ product, line }, characters);
  }

  #malformed(problems: Problems, message: string, line: number): void {
    problems.add({ code: "MALFORMED", message, path: this.#path, line });
  }
}
