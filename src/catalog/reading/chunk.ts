import type { RowChecks } from "./rowChecks.js";
import { chunkRowsMax, concatRows, type PlacedProduct, type EncodedRows, encodeRows } from "../product.columns.js";

const charactersMax = 2 * 1024 * 1024;
/** Small sets keep few objects alive for the garbage collector. */
const unencodedMax = 250;

export class ChunkBuilder {
  rows = 0;
  #characters = 0;
  #unencoded: PlacedProduct[] = [];
  #encoded: EncodedRows[] = [];

  /**
   * @param checks of the rows: those of an import with too many problems are left out
   * @param keysOnly see `encodeRows`
   */
  constructor(
    private readonly checks: Pick<RowChecks, "hasTooManyProblems">,
    private readonly keysOnly = false,
  ) {}

  get full(): boolean {
    return this.rows >= chunkRowsMax || this.#characters >= charactersMax;
  }

  add(row: PlacedProduct, characters: number): void {
    if (this.checks.hasTooManyProblems) return this.#drop();
    this.rows += 1;
    this.#characters += characters;
    this.#unencoded.push(row);
    if (this.#unencoded.length >= unencodedMax) this.#encode();
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
    this.#encoded.push(encodeRows(this.#unencoded, this.keysOnly));
    this.#unencoded = [];
  }
}
