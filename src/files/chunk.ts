import { chunkRowsMax } from "./chunkRows.js";
import type { RowChecks } from "./rowChecks.js";
import {
  concatRows,
  type EncodedRows,
  encodeRows,
  type PlacedProduct,
  productKeys,
} from "./product/product.columns.js";
import type { ProductInput } from "./product/product.fields.js";
import { presentFields } from "./product/product.input.js";

const charactersMax = 2 * 1024 * 1024;

export interface ChunkOptions {
  /** The most rows of a chunk; by default as many as one statement stores. */
  readonly chunkRows?: number;
  /** Products are patches, which only have the fields of their columns. */
  readonly isPatch?: boolean;
}

/** Small sets keep few objects alive for the garbage collector. */
const unencodedMax = 250;

/** The keys of an invalid row that can be read. */
export interface RowKeys extends Pick<Partial<ProductInput>, "id" | "sku"> {
  readonly line: number;
}

export interface ProductChunk {
  /** The number of valid rows. */
  readonly rows: number;
  readonly columns: EncodedRows;
  /** Invalid rows with an id or a sku: they may contradict others, and REPLACE keeps their products. */
  readonly invalid: readonly RowKeys[];
}

export class ChunkBuilder {
  /** Including invalid ones. */
  rows = 0;
  #characters = 0;
  #unencoded: PlacedProduct[] = [];
  #encoded: EncodedRows[] = [];
  #invalid: RowKeys[] = [];
  readonly #rowsMax: number;
  readonly #isPatch: boolean;

  /** @param checks of the rows: the chunk leaves out rows of an import with too many problems */
  constructor(
    private readonly checks: Pick<RowChecks, "hasTooManyProblems">,
    { chunkRows = chunkRowsMax, isPatch = false }: ChunkOptions = {},
  ) {
    this.#rowsMax = chunkRows;
    this.#isPatch = isPatch;
  }

  get full(): boolean {
    return this.rows >= this.#rowsMax || this.#characters >= charactersMax;
  }

  /** Adds a product as it was sent, or the keys of an invalid one. */
  addSent(
    sent: unknown,
    { line, isValid }: { readonly line: number; readonly isValid: boolean },
    characters: number,
  ): void {
    if (this.checks.hasTooManyProblems) return this.#drop();
    const keys = isValid ? undefined : productKeys(sent);
    if (!isValid && keys === undefined) return;
    this.rows += 1;
    this.#characters += characters;
    if (keys !== undefined) {
      this.#invalid.push({ line, ...keys });
      return;
    }
    const product = sent as Partial<ProductInput>; // checked
    this.#unencoded.push({ product, line, ...(this.#isPatch && { present: presentFields(product) }) });
    if (this.#unencoded.length >= unencodedMax) this.#encode();
  }

  /** Takes the chunk, which must not be empty, and starts the next one. */
  take(): ProductChunk {
    if (this.#unencoded.length > 0) this.#encode();
    const { rows } = this;
    const invalid = this.#invalid;
    const chunk = { rows: rows - invalid.length, columns: concatRows(this.#encoded), invalid };
    this.#drop();
    return chunk;
  }

  #drop(): void {
    this.rows = 0;
    this.#characters = 0;
    this.#unencoded = [];
    this.#encoded = [];
    this.#invalid = [];
  }

  #encode(): void {
    this.#encoded.push(encodeRows(this.#unencoded));
    this.#unencoded = [];
  }
}
