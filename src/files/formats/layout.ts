import type { ProductInput } from "../product/product.fields.js";
import type { Notes } from "./notes.js";
import type { SourceRow } from "./rows/row.js";

/** Values as in the file, of any type, because they are checked later. Null and undefined are missing. */
export type Fields = Readonly<Partial<Record<keyof ProductInput, unknown>>>;

/** Gives a product the values that its own row lacks. */
export interface Parent {
  readonly fields: Fields;
  readonly row: SourceRow;
  /** The lines of all rows that its values come from, if there are others. */
  readonly from?: readonly number[] | undefined;
}

/** A product before mappings, defaults and the template of URLs are applied. */
export interface Draft {
  readonly row: SourceRow;
  readonly fields: Fields;
  readonly parent?: Parent | undefined;
  /** Values for placeholders, which take precedence over columns. */
  readonly names?: ReadonlyMap<string, string>;
  /** The lines of other rows that it takes values from, besides its parent's. */
  readonly from?: readonly number[];
  /** Why it cannot be stored, whatever its values. */
  readonly fault?: string;
}

/** Reads one file; holds a bounded number of rows. */
export interface RowReader {
  take(row: SourceRow): Iterable<Draft>;
  end(): Iterable<Draft>;
}

export interface RowReaderOptions {
  /** The header's columns by `columnName`; undefined if they are unknown before the rows. */
  readonly columns: readonly string[] | undefined;
  readonly onePer: "variant" | "product";
  readonly notes: Notes;
  /** In milliseconds: decides which sale prices apply. */
  readonly now: number;
  /** The store's, for times without a zone. */
  readonly timeZone: string;
  /** The decimals of the store's currency, for computed prices. */
  readonly decimals: number;
  /** Lines that prove that not every row has its own `secondSku`; undefined if each has. */
  readonly sharing: readonly number[] | undefined;
  /** SKUs of several rows, each with the lines of two of these. */
  readonly sharedSkus: ReadonlyMap<string, readonly number[]>;
}

/** What columns mean. Only `id`, `sku` and the fields of a product are stored; the others decide their values. */
export type Role =
  | "id"
  | "sku"
  /** A sku only if every row has its own. */
  | "secondSku"
  /** What all rows of a product share if they are adjacent. */
  | "handle"
  /** Names variants without a SKU; the handle by default. */
  | "key"
  /** The SKU or `id:` of a row's parent. */
  | "parent"
  /** SKUs of a row's children, with their attributes (`sku=A,color=red|sku=B`), or as a list (`A=1,B=1`). */
  | "configured"
  | "grouped"
  /** The kind of row, by the layout's `kinds`. */
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
  /** Start and end, with a slash between them. */
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
  /** Columns that are known and not needed. */
  | "ignored";

/** Stored rows, rows that only give values to others, images, and rows that cannot be put into a cart. */
export type Kind = "product" | "variant" | "parent" | "image" | "unsold";

/** Describes a file of another system. Names are as `columnName` returns them, separated by bars; `#` is any number, `*` any ending. */
export interface Layout {
  /** The system's name, for messages. */
  readonly label: string;
  /** The name of its file, and how it is read, for docs/formats.md. */
  readonly file: string;
  readonly remark: string;
  /** The columns of each role, in order of preference. */
  readonly columns: Readonly<Partial<Record<Role, string>>>;
  /** A file is of this system if it has a column for each of these; `@price` stands for all names of that role. */
  readonly marks: readonly string[];
  /**
   * How rows make products. `single`: each row is one. `adjacent`: rows of a product are adjacent. `parents`: anywhere in the file,
   * rows name their parent, or parents their children.
   */
  readonly rows: "single" | "adjacent" | "parents";
  /** The kind by the first of these words found in the cell of `kind`. Rows of other kinds are not stored. */
  readonly kinds?: Readonly<Record<string, Kind>>;
  /** Words with a special meaning in columns of a role; null means that the parent decides. */
  readonly words?: Readonly<Partial<Record<Role, Readonly<Record<string, boolean | null>>>>>;
  /** By words in a product's tracker: whether the stock of each variant counts, or its own. */
  readonly trackers?: Readonly<Record<string, "row" | "product">>;
  /** Availability is unknown without a column for it. */
  readonly needsStock?: boolean;
  /** Images are paths, so every comma separates them. */
  readonly imagePaths?: boolean;
  /** The address of images without a host. */
  readonly imageBase?: string;
  /** An apostrophe keeps spreadsheets from reading a cell as a formula: `'-1`. */
  readonly escapesFormulas?: boolean;
  /** Descriptions have `\n` for a line break. */
  readonly escapesLines?: boolean;
  /** Products without a key get one from their title. */
  readonly keyOfTitle?: boolean;
  /** Why parents are not stored. */
  readonly parentNote?: string;
  /** Columns of prices without tax. */
  readonly untaxed?: string;
  /** Another file of this system, which has no prices, by its own marks. */
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

/** The names of a role; only those in the header, if that is known. */
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
