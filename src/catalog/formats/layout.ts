import type { ProductInput } from "../product.input.js";
import type { Notes } from "./notes.js";
import type { SourceRow } from "./row.js";

/** Values as a file has them, of any type: they are checked later. Null and undefined are missing. */
export type Fields = Readonly<Partial<Record<keyof ProductInput, unknown>>>;

/** Gives a product the values that its own row lacks. */
export interface Parent {
  readonly fields: Fields;
  readonly row: SourceRow;
}

/** A product before mappings, defaults and the template of URLs are applied. */
export interface Draft {
  readonly row: SourceRow;
  readonly fields: Fields;
  readonly parent?: Parent | undefined;
  /** Values for placeholders, before those of columns. */
  readonly names?: ReadonlyMap<string, string>;
}

/** Reads one file; holds a bounded number of rows. */
export interface RowReader {
  take(row: SourceRow): Iterable<Draft>;
  end(): Iterable<Draft>;
}

export interface RowReaderOptions {
  /** In lower case; undefined if unknown before the rows. */
  readonly columns: ReadonlySet<string> | undefined;
  readonly onePer: "variant" | "product";
  readonly notes: Notes;
  /** In milliseconds: decides which sale prices hold. */
  readonly now: number;
}

export interface Layout {
  /** The system's name, for messages. */
  readonly name: string;
  readonly reads: ReadonlySet<string>;
  /** A file needs one of these columns for a field, unless an option gives its value. */
  readonly needs: Readonly<Partial<Record<keyof ProductInput, readonly string[]>>>;
  /** Normalizes a column's name; lower case by default. */
  readonly nameOf?: (column: string) => string;
  isIn(columns: ReadonlySet<string>): boolean;
  createReader(options: RowReaderOptions): RowReader;
}
