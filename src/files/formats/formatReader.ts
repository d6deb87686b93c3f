import type { Path } from "../../errors.js";
import type { CsvPiece } from "../csv/csvPieces.js";
import type { ProductInput } from "../product/product.fields.js";
import { checkProduct } from "../product/product.input.js";
import { ChunkBuilder } from "../chunk.js";
import { type CsvChunk, type CsvOptions, type CsvResult, previewProducts } from "../csv/csv.js";
import { invalidText } from "../csv/csv.faults.js";
import { RowChecks } from "../rowChecks.js";
import type { ProductFinisher } from "./completeProduct.js";
import type { Draft, RowReader } from "./layout.js";
import type { Notes } from "./notes.js";
import type { RowEvent, RowSource } from "./rows/row.js";

export interface FileRows {
  readonly source: RowSource;
  readonly rows: RowReader;
  readonly finisher: ProductFinisher;
  readonly notes: Notes;
  /** What each column is used for, if that is to be shown. */
  readonly columns?: Readonly<Record<string, string>> | undefined;
}

/** Turns a file's rows into chunks of checked products. */
export class FormatReader {
  #ended = false;
  #products = 0;
  #bytesRead = 0;
  readonly #checks: RowChecks;
  readonly #chunk: ChunkBuilder;
  readonly #productsMax: number;
  readonly #path: Path;
  readonly #preview: Partial<ProductInput>[] | undefined;
  readonly #isPatch: boolean;
  readonly #isCommand: boolean;

  constructor(
    private readonly file: FileRows,
    options: CsvOptions,
  ) {
    const {
      rowsMax = Infinity,
      pathPrefix = [],
      errorPolicy = "REJECT_ALL",
      preview = false,
      isPatch = false,
    } = options;
    this.#isPatch = isPatch;
    this.#isCommand = options.isCommand === true;
    this.#checks = new RowChecks(errorPolicy);
    this.#chunk = new ChunkBuilder(this.#checks, options);
    this.#productsMax = rowsMax;
    this.#path = pathPrefix;
    this.#preview = preview ? [] : undefined;
  }

  refuse(message: string, field?: string): void {
    const path = field === undefined ? this.#path : this.#path.concat(field);
    this.#checks.problems.add({ code: "REQUIRED", message, path, line: 1 });
    this.#ended = true;
  }

  async *readAll(pieces: AsyncIterable<CsvPiece>): AsyncGenerator<CsvChunk, CsvResult> {
    for await (const piece of pieces) {
      if (this.#ended) break;
      yield* this.#read(piece);
    }
    if (!this.#ended) yield* this.#takeEvents(await this.file.source.end());
    if (!this.#ended) yield* this.#takeDrafts(this.file.rows.end());
    yield* this.#takeChunk();
    const { columns, notes: all } = this.file;
    const { list: notes, skipped } = all;
    const shown = this.#preview && { preview: this.#preview, ...(columns && { columns }) };
    return { rows: this.#products, skipped, notes, ...this.#checks.found, ...shown };
  }

  async *#read({ text, bytesRead, invalidAs, invalid }: CsvPiece): AsyncGenerator<CsvChunk, void> {
    this.#bytesRead = bytesRead;
    yield* this.#takeEvents(await this.file.source.push(text));
    if (invalidAs === undefined || this.#ended) return;
    const { line, rowLine } = this.file.source;
    this.#malformed(invalidText(line, { invalidAs, ...(invalid && { invalid }) }, this.#isCommand), rowLine, true);
  }

  *#takeEvents(events: Iterable<RowEvent>): Generator<CsvChunk, void> {
    for (const event of events) {
      if (this.#ended) return;
      if ("row" in event) yield* this.#takeDrafts(this.file.rows.take(event.row));
      else this.#malformed(event.message, event.line, event.ends);
    }
  }

  *#takeDrafts(drafts: Iterable<Draft>): Generator<CsvChunk, void> {
    for (const draft of drafts) {
      this.#takeDraft(draft);
      if (this.#ended) return;
      if (this.#chunk.full) yield* this.#takeChunk();
    }
  }

  *#takeChunk(): Generator<CsvChunk, void> {
    if (this.#chunk.rows === 0) return;
    yield { bytesRead: this.#bytesRead, ...this.#chunk.take() };
  }

  #takeDraft(draft: Draft): void {
    const { line } = draft.row;
    if (this.#products >= this.#productsMax) {
      const message = `The file must have at most ${this.#productsMax} products (MAX_BULK_PRODUCTS).`;
      this.#checks.problems.add({ code: "TOO_LONG", message, path: this.#path, line });
      this.#ended = true;
      return;
    }
    this.#products += 1;
    const { finisher } = this.file;
    const candidate = this.#isPatch ? finisher.finishPatch(draft) : finisher.finish(draft);
    const isChecked = checkProduct(candidate, { path: this.#path, line }, this.#checks.row, this.#isPatch);
    const isValid = isChecked && draft.fault === undefined;
    if (draft.fault !== undefined) {
      this.#checks.row.add({ code: "INVALID_VALUE", message: draft.fault, path: this.#path, line });
    }
    if (isValid && this.#preview !== undefined && this.#preview.length < previewProducts) this.#preview.push(candidate);
    this.#chunk.addSent(candidate, { line, isValid }, charactersOf(candidate));
    this.#checks.endRow(line);
  }

  #malformed(message: string, line: number, ends: boolean): void {
    const problems = ends ? this.#checks.problems : this.#checks.row;
    problems.add({ code: "MALFORMED", message, path: this.#path, line });
    this.#checks.endRow(line);
    this.#ended ||= ends;
  }
}

/** Not the characters of the row, because a product may take most of its texts from a parent. */
function charactersOf(product: object): number {
  let characters = 0;
  for (const value of Object.values(product)) {
    if (typeof value === "string") characters += value.length;
    else if (Array.isArray(value)) for (const item of value) characters += String(item).length;
  }
  return characters;
}
