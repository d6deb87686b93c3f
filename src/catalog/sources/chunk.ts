import type { RowChecks } from "./rowChecks.js";
import { chunkRowsMax } from "./chunkRows.js";
import {
  concatRows,
  type EncodedRows,
  encodeRows,
  type PlacedProduct,
  productKeys,
} from "../product/product.columns.js";
import type { ProductInput } from "../product/product.fields.js";
import { presentFields } from "../product/product.input.js";

const charactersMax = 2 * 1024 * 1024;

export interface ChunkOptions {
  /** The most of a chunk, by default as many as one statement stores. */
  readonly chunkRows?: number;
  /** Products are patches, which have the fields of their columns. */
  readonly isPatch?: boolean;
}

/** Small sets keep few objects alive for the garbage collector. */
const unencodedMax = 250;

export class ChunkBuilder {
  rows = 0;
  #characters = 0;
  #unencoded: PlacedProduct[] = [];
  #encoded: EncodedRows[] = [];
  readonly #rowsMax: number;
  readonly #isPatch: boolean;

  /** @param checks of the rows: those of an import with too many problems are left out */
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

  add(row: PlacedProduct, characters: number): void {
    if (this.checks.hasTooManyProblems) return this.#drop();
    this.rows += 1;
    this.#characters += characters;
    this.#unencoded.push(row);
    if (this.#unencoded.length >= unencodedMax) this.#encode();
  }

  /** Adds a product as it was sent, or the valid keys of an invalid one. */
  addSent(
    sent: unknown,
    { line, isValid }: { readonly line: number; readonly isValid: boolean },
    characters: number,
  ): void {
    const product = isValid ? (sent as Partial<ProductInput>) : (productKeys(sent) ?? {}); // checked
    const patch = this.#isPatch && { present: isValid ? presentFields(product) : null };
    this.add({ product, line, ...patch }, characters);
  }

  /** Takes the chunk, which must not be empty, and starts the next one. */
  take(): { rows: number; columns: EncodedRows } {
    if (this.#unencoded.length > 0) this.#encode();
    const chunk = { rows: this.rows, columns: concatRows(this.#encoded) };
    this.#drop();
    return chunk;
  }

  #drop(): void {
    this.rows = 0;
    this.#characters = 0;
    this.#unencoded = [];
    this.#encoded = [];
  }

  #encode(): void {
    this.#encoded.push(encodeRows(this.#unencoded));
    this.#unencoded = [];
  }
}
