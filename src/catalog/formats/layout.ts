import type { ProductInput } from "../product.input.js";
import type { Notes } from "./notes.js";
import type { SourceRow } from "./row.js";

/** Values of a product as a file has them, of any type: they are checked later. Null and undefined are missing. */
export type Fields = Readonly<Partial<Record<keyof ProductInput, unknown>>>;

/** What a product takes from the row above it where its own lacks a value. */
export interface Parent {
  readonly fields: Fields;
  readonly row: SourceRow;
}

/** A product, before mappings, defaults and the template of URLs are applied. */
export interface Draft {
  readonly row: SourceRow;
  readonly fields: Fields;
  readonly parent?: Parent | undefined;
  /** Values for placeholders, before those of columns. */
  readonly names?: Readonly<Record<string, string>>;
}

/** Reads the rows of one file, and holds only a bounded number of them. */
export interface RowReader {
  take(row: SourceRow): Iterable<Draft>;
  end(): Iterable<Draft>;
}

export interface RowReaderOptions {
  /** Names of columns, in lower case; undefined if they are not known before the rows. */
  readonly columns: ReadonlySet<string> | undefined;
  readonly onePer: "variant" | "product";
  readonly notes: Notes;
  /** In milliseconds: decides which prices of a sale hold. */
  readonly now: number;
}

/** How a system lays out its files. */
export interface Layout {
  /** Of the system, for messages. */
  readonly name: string;
  /** The names of all columns that it reads. */
  readonly reads: ReadonlySet<string>;
  /** Columns of which a file needs one for these fields, unless an option gives their values. */
  readonly needs: Readonly<Partial<Record<keyof ProductInput, readonly string[]>>>;
  /** The form of a column's name: in lower case by default. */
  readonly nameOf?: (column: string) => string;
  isIn(columns: ReadonlySet<string>): boolean;
  createReader(options: RowReaderOptions): RowReader;
}
