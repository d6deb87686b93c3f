import { chunkRowsMax, concatRows, type PlacedProduct, type EncodedRows, encodeRows } from "../product.columns.js";

const charactersMax = 2 * 1024 * 1024;
/** Rows are encoded in small sets, to keep few objects alive for the garbage collector. */
const unencodedMax = 250;

export class ChunkBuilder {
  rows = 0;
  #characters = 0;
  #unencoded: PlacedProduct[] = [];
  #encoded: EncodedRows[] = [];

  /** @param keysOnly see `encodeRows` */
  constructor(private readonly keysOnly = false) {}

  get full(): boolean {
    return this.rows >= chunkRowsMax || this.#characters >= charactersMax;
  }

  add(row: PlacedProduct, characters: number): void {
    this.rows += 1;
    this.#characters += characters;
    this.#unencoded.push(row);
    if (this.#unencoded.length >= unencodedMax) this.#encode();
  }

  /** The chunk, which must not be empty; starts the next one. */
  take(): { rows: number; columns: EncodedRows } {
    if (this.#unencoded.length > 0) this.#encode();
    const chunk = { rows: this.rows, columns: concatRows(this.#encoded) };
    this.rows = 0;
    this.#characters = 0;
    this.#encoded = [];
    return chunk;
  }

  #encode(): void {
    this.#encoded.push(encodeRows(this.#unencoded, this.keysOnly));
    this.#unencoded = [];
  }
}
