import { chunkRowsMax, concatRows, type PlacedProduct, type EncodedRows, encodeRows } from "../product.columns.js";

/** Bounds the memory that a chunk takes, whatever its rows hold. */
const charactersMax = 2 * 1024 * 1024;
/** Rows are encoded in small sets: the fewer objects are alive, the less work for the garbage collector. */
const unencodedMax = 250;

/** Gathers rows until they make a chunk. */
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

  /** @param characters about how many the row takes */
  add(row: PlacedProduct, characters: number): void {
    this.rows += 1;
    this.#characters += characters;
    this.#unencoded.push(row);
    if (this.#unencoded.length >= unencodedMax) this.#encode();
  }

  /** The rows gathered so far, of which there must be one; the next chunk starts. */
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
