import type { Path } from "../../errors.js";
import type { CsvPiece } from "../csv/pieces.js";
import { productKeys } from "../product.columns.js";
import { checkProduct, type ProductInput } from "../product.input.js";
import { ChunkBuilder } from "../reading/chunk.js";
import { type CsvChunk, type CsvOptions, type CsvResult, previewProducts } from "../reading/csv.js";
import { invalidText } from "../reading/csv.faults.js";
import { RowChecks } from "../reading/rowChecks.js";
import type { ProductFinisher } from "./finish.js";
import type { Draft, RowReader } from "./layout.js";
import type { RowEvent, RowSource } from "./row.js";

/** Turns a file's rows into chunks of checked products. */
export class FormatReader {
  #ended = false;
  #products = 0;
  #bytesRead = 0;
  readonly #checks: RowChecks;
  readonly #chunk: ChunkBuilder;
  readonly #productsMax: number;
  readonly #path: Path;
  readonly #preview: ProductInput[] | undefined;

  constructor(
    private readonly source: RowSource,
    private readonly rows: RowReader,
    private readonly finisher: ProductFinisher,
    options: CsvOptions,
  ) {
    const { rowsMax = Infinity, pathPrefix = [], errorPolicy = "REJECT_ALL", preview = false } = options;
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
    if (!this.#ended) yield* this.#takeEvents(this.source.end());
    if (!this.#ended) yield* this.#takeDrafts(this.rows.end());
    yield* this.#takeChunk();
    return { rows: this.#products, ...this.#checks.found, ...(this.#preview && { preview: this.#preview }) };
  }

  *#read({ text, bytesRead, invalidAs }: CsvPiece): Generator<CsvChunk, void> {
    this.#bytesRead = bytesRead;
    yield* this.#takeEvents(this.source.push(text));
    if (invalidAs === undefined || this.#ended) return;
    this.#malformed(invalidText(this.source.line, invalidAs), this.source.rowLine, true);
  }

  *#takeEvents(events: readonly RowEvent[]): Generator<CsvChunk, void> {
    for (const event of events) {
      if (this.#ended) return;
      if ("row" in event) yield* this.#takeDrafts(this.rows.take(event.row));
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
    yield { bytesRead: this.#bytesRead, faults: this.#checks.faults, ...this.#chunk.take() };
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
    const candidate = this.finisher.finish(draft);
    const isValid = checkProduct(candidate, { path: this.#path, line }, this.#checks.row);
    if (isValid && this.#preview !== undefined && this.#preview.length < previewProducts) this.#preview.push(candidate);
    const product = isValid ? candidate : productKeys(candidate);
    if (product !== undefined) this.#chunk.add({ product, line }, charactersOf(product));
    this.#checks.endRow(line);
  }

  #malformed(message: string, line: number, ends: boolean): void {
    const problems = ends ? this.#checks.problems : this.#checks.row;
    problems.add({ code: "MALFORMED", message, path: this.#path, line });
    this.#checks.endRow(line);
    this.#ended ||= ends;
  }
}

/** Not those of the row: a product may have most of its texts from a parent. */
function charactersOf(product: object): number {
  let characters = 0;
  for (const value of Object.values(product).flat()) if (typeof value === "string") characters += value.length;
  return characters;
}
