import type { ProductInput } from "../product/product.fields.js";
import type { Notes } from "./notes.js";
import type { SourceRow } from "./rows/row.js";

/** Values as a file has them, of any type: they are checked later. Null and undefined are missing. */
export type Fields = Readonly<Partial<Record<keyof ProductInput, unknown>>>;

/** Gives a product the values that its own row lacks. */
export interface Parent {
  readonly fields: Fields;
  readonly row: SourceRow;
  /** The lines of all rows that its values are from, if there are others. */
  readonly from?: readonly number[] | undefined;
}

/** A product before mappings, defaults and the template of URLs are applied. */
export interface Draft {
  readonly row: SourceRow;
  readonly fields: Fields;
  readonly parent?: Parent | undefined;
  /** Values for placeholders, before those of columns. */
  readonly names?: ReadonlyMap<string, string>;
  /** The lines of other rows that it takes values from, besides its parent's. */
  readonly from?: readonly number[];
  /** Why it cannot be stored, whatever its values are. */
  readonly fault?: string;
}

/** Reads one file; holds a bounded number of rows. */
export interface RowReader {
  take(row: SourceRow): Iterable<Draft>;
  end(): Iterable<Draft>;
}

export interface RowReaderOptions {
  /** Of the header, by `columnName`; undefined if unknown before the rows. */
  readonly columns: readonly string[] | undefined;
  readonly onePer: "variant" | "product";
  readonly notes: Notes;
  /** In milliseconds: decides which sale prices hold. */
  readonly now: number;
  /** Of the store: of times without a zone. */
  readonly timeZone: string;
  /** Of the store's currency: of prices that are computed. */
  readonly decimals: number;
  /** Lines that show that not every row has a `secondSku` of its own; undefined where each has. */
  readonly sharing: readonly number[] | undefined;
  /** SKUs that several rows have, with the lines of two of these. */
  readonly sharedSkus: ReadonlyMap<string, readonly number[]>;
}

/** What columns mean. Only `id`, `sku` and the fields of a product are stored; the others decide about these. */
export type Role =
  | "id"
  | "sku"
  /** A sku only where all rows have one, each its own. */
  | "secondSku"
  /** What all rows of a product share, where they are adjacent. */
  | "handle"
  /** What variants without a SKU are named by; the handle by default. */
  | "key"
  /** The SKU or `id:` of a row's parent. */
  | "parent"
  /** SKUs of a row's children, with their attributes (`sku=A,color=red|sku=B`), or as a list (`A=1,B=1`). */
  | "configured"
  | "grouped"
  /** What kind of row it is, by the layout's `kinds`. */
  | "kind"
  /** Filled only in rows that repeat a product in another language. */
  | "view"
  | "visibility"
  /** What Matrixify does with a product, and with a variant. */
  | "command"
  | "variantCommand"
  | "title"
  | "description"
  | "price"
  | "surcharge"
  | "salePrice"
  /** Whether the sale price is used. */
  | "onSale"
  | "saleStart"
  | "saleEnd"
  /** Both, with a slash between them. */
  | "saleDates"
  | "discountMode"
  | "discount"
  | "discountPercent"
  /** Words that decide whether it can be bought, in any number of columns. */
  | "published"
  | "inStock"
  | "stock"
  /** Whether stock counts. */
  | "tracker"
  /** Whether it is sold without stock. */
  | "policy"
  | "image"
  | "moreImages"
  | "variantImage"
  | "position"
  | "option"
  | "url"
  /** Columns that are known and mean nothing here. */
  | "ignored";

/** Rows that are stored, rows that only give others what those lack, images, and rows that are not sold in a cart. */
export type Kind = "product" | "variant" | "parent" | "image" | "unsold";

/** A file of another system as a table. Names are written as `columnName` returns them, with bars between; `#` is any number, `*` any end. */
export interface Layout {
  /** The system's name, for messages. */
  readonly label: string;
  /** What its file is called, and how it is read, for docs/formats.md. */
  readonly file: string;
  readonly remark: string;
  /** Of each role, in the order in which they are preferred. */
  readonly columns: Readonly<Partial<Record<Role, string>>>;
  /** A file is of this system if it has a column of each of these; `@price` stands for all names of that role. */
  readonly marks: readonly string[];
  /**
   * How rows make products. `single`: each is one. `adjacent`: rows of a product are adjacent. `parents`: rows
   * name their parent, or parents their children, anywhere in the file.
   */
  readonly rows: "single" | "adjacent" | "parents";
  /** By a word within the cell of `kind`: the first that is found. Rows of any other kind are not stored. */
  readonly kinds?: Readonly<Record<string, Kind>>;
  /** What words mean in columns of a role where this differs from what they mean elsewhere; null for what a parent decides. */
  readonly words?: Readonly<Partial<Record<Role, Readonly<Record<string, boolean | null>>>>>;
  /** What a product says of whose stock counts, by words in its tracker: that of each variant, or its own. */
  readonly trackers?: Readonly<Record<string, "row" | "product">>;
  /** Whether it can be bought is not known without a column that says it. */
  readonly needsStock?: boolean;
  /** Images are paths, so that every comma separates them. */
  readonly imagePaths?: boolean;
  /** Where images without a host are. */
  readonly imageBase?: string;
  /** An apostrophe keeps spreadsheets from reading a cell as a formula: `'-1`. */
  readonly escapesFormulas?: boolean;
  /** Descriptions have `\n` for a line break. */
  readonly escapesLines?: boolean;
  /** Products without a key are named by their title. */
  readonly keyOfTitle?: boolean;
  /** Why parents are not stored. */
  readonly parentNote?: string;
  /** Columns of prices without tax. */
  readonly untaxed?: string;
  /** Other files of this system, which have no prices, by marks of their own. */
  readonly refused?: { readonly name: string; readonly marks: readonly string[] };
}

/** A column's name in lower case, with one kind of blank and apostrophe, and without the prefix of Google's namespace. */
export function columnName(column: string): string {
  if (column === "") return column; // a header may have a million of them
  return column
    .replaceAll(/[\s_-]+/gu, " ")
    .trim()
    .toLowerCase()
    .normalize("NFC")
    .replaceAll("’", "'")
    .replace(/^g:/u, "");
}

export function namesIn(list: string): string[] {
  return list.split("|").map((name) => name.replaceAll(/\s+/gu, " ").trim());
}

/** The names of a role, of those in a header where that is known. */
export function namesOf({ columns }: Layout, role: Role, header: readonly string[] | undefined): readonly string[] {
  const known = columns[role] === undefined ? [] : namesIn(columns[role]);
  if (header === undefined) return known;
  return known.flatMap((name) => header.filter((each, at) => isNamed(each, name) && header.indexOf(each) === at));
}

/** Whether a layout knows a column. */
export function roleOf({ columns }: Layout, column: string): Role | undefined {
  const roles = Object.keys(columns) as Role[];
  return roles.find((role) => namesIn(columns[role] ?? "").some((name) => isNamed(column, name)));
}

/** Whether a header has a column of each mark. */
export function hasMarks(marks: readonly string[], layout: Layout, header: readonly string[]): boolean {
  return marks.every((mark) =>
    namesIn(mark)
      .flatMap((name) => (name.startsWith("@") ? namesIn(layout.columns[name.slice(1) as Role] ?? "") : [name]))
      .some((name) => header.some((each) => isNamed(each, name))),
  );
}

/** Whether a column has a name of a layout. */
export function isNamed(column: string, name: string): boolean {
  if (name.endsWith("*")) return column.startsWith(name.slice(0, -1));
  return column === name || (name.includes("#") && column.replace(/\d+/u, "#") === name);
}
