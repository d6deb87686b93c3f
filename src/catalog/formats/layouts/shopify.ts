import type { Draft, Fields, Layout, Parent, RowReader, RowReaderOptions } from "../layout.js";
import type { SourceRow } from "../row.js";
import { ParentRows } from "../parentRows.js";
import { parseFlag } from "../values/cells.js";
import { plainText } from "../values/html.js";
import { keyWithOptions, titleWithOptions } from "../values/options.js";
import { parsePrice } from "../values/prices.js";

/** The names of columns in exports until 2024, and since. */
const columns = {
  handle: ["handle", "url handle"],
  title: ["title"],
  body: ["body (html)", "description"],
  published: ["published", "published on online store"],
  status: ["status"],
  sku: ["variant sku", "sku"],
  price: ["variant price", "price"],
  tracker: ["variant inventory tracker", "inventory tracker"],
  stock: ["variant inventory qty", "inventory quantity"],
  policy: ["variant inventory policy", "continue selling when out of stock"],
  image: ["image src", "product image url"],
  position: ["image position"],
  variantImage: ["variant image", "variant image url"],
} as const;
const optionValues = ["option1 value", "option2 value", "option3 value"];
/** These name an option and link it to a list; only the values matter. */
const optionNames = [1, 2, 3].flatMap((n) => [`option${n} name`, `option${n} linked to`]);

/** Shopify has at most 2,048 variants and 250 images of a product. */
const groupRowsMax = 4_096;
const groupCharactersMax = 4 * 1024 * 1024;

/**
 * Shopify's product CSV: a row for each variant and each further image, all rows of a product one after another. Where
 * they are apart, later variants take what they lack from the first row.
 */
export const shopify: Layout = {
  name: "Shopify",
  reads: new Set([...Object.values(columns).flat(), ...optionValues, ...optionNames]),
  needs: { title: columns.title, featured_image: [...columns.image, ...columns.variantImage], url: [] },
  isIn: (names) =>
    columns.handle.some((name) => names.has(name)) &&
    [...columns.body.slice(0, 1), ...columns.sku, ...columns.price, ...optionValues].some((name) => names.has(name)),
  createReader: (readerOptions) => new ShopifyReader(readerOptions),
};

interface Group {
  readonly handle: string;
  readonly rows: SourceRow[];
  characters: number;
}

class ShopifyReader implements RowReader {
  readonly #parents: ParentRows;
  #group: Group | undefined;

  constructor(private readonly options: RowReaderOptions) {
    this.#parents = new ParentRows(options.notes);
  }

  *take(row: SourceRow): Generator<Draft, void> {
    const handle = row.text(columns.handle) || handleOf(row.text(columns.title)) || this.#group?.handle || "";
    const { rows, characters } = this.#group ?? { rows: [], characters: 0 };
    const isFull = rows.length >= groupRowsMax || characters >= groupCharactersMax;
    if (this.#group?.handle !== handle || isFull) {
      yield* this.end();
      this.#group = { handle, rows: [], characters: 0 };
    }
    this.#group.rows.push(row);
    this.#group.characters += row.characters;
  }

  *end(): Generator<Draft, void> {
    if (this.#group === undefined) return;
    const { handle, rows } = this.#group;
    this.#group = undefined;
    const known = this.#parents.parentOf(handle);
    const variants = variantRows(rows, known !== undefined);
    const parent = this.#parentOf(handle, rows, known);
    if (known !== undefined) this.#noteImages(rows);
    if (this.options.onePer === "product") {
      const one = known === undefined ? asOne(handle, variants, parent) : undefined;
      if (one !== undefined) yield one;
      else for (const { line } of variants) this.#noteApart(line);
      return;
    }
    const names = new Map([["handle", handle]]);
    for (const row of variants) yield { row, parent, names, fields: variantFields(handle, row, parent) };
  }

  #parentOf(handle: string, rows: readonly SourceRow[], known: Parent | undefined): Parent {
    const [first] = rows;
    if (known !== undefined || first === undefined) return known ?? { fields: {}, row: emptyRow };
    const parent = { fields: productFields(rows), row: first };
    this.#parents.remember([handle], parent);
    return parent;
  }

  #noteImages(rows: readonly SourceRow[]): void {
    for (const row of rows) {
      if (row.text(columns.image) === "") continue;
      this.options.notes.count(
        "its image is not used, since the other rows of its product are not beside it.",
        row.line,
      );
    }
  }

  #noteApart(line: number): void {
    const reason = "not stored, since the other rows of its product are not beside it (--one-per product).";
    this.options.notes.count(reason, line);
  }
}

const emptyRow: SourceRow = { line: 0, characters: 0, text: () => "", texts: () => [], copy: () => emptyRow };

/** The first row of a product without variants. */
function variantRows(rows: readonly SourceRow[], isContinued: boolean): readonly SourceRow[] {
  const marks = [...optionValues, ...columns.price, ...columns.sku];
  const variants = rows.filter((row) => row.text(marks) !== "");
  return variants.length > 0 || isContinued ? variants : rows.slice(0, 1);
}

function productFields(rows: readonly SourceRow[]): Fields {
  const first = (names: readonly string[]) => rows.map((row) => row.text(names)).find((text) => text !== "") ?? "";
  const images = rows
    .map((row, at) => ({ url: row.text(columns.image), position: Number(row.text(columns.position)) || at + 1 }))
    .filter(({ url }) => url !== "")
    .toSorted((a, b) => a.position - b.position)
    .map(({ url }) => url);
  const isSold = parseFlag(first(columns.published)) !== false && !/^(?:draft|archived)$/iu.test(first(columns.status));
  return {
    title: plainText(first(columns.title)),
    description: plainText(first(columns.body)) || null,
    available: isSold,
    images: [...new Set(images)],
    featured_image: images[0],
  };
}

function variantFields(handle: string, row: SourceRow, { fields }: Parent): Fields {
  const values = optionValues.map((name) => row.text([name])).filter((value) => value !== "");
  const chosen = values.length === 1 && values[0]?.toLowerCase() === "default title" ? [] : values;
  const sku = skuOf(row) || keyWithOptions(handle, chosen);
  const title = typeof fields.title === "string" ? fields.title : "";
  return {
    id: sku,
    sku,
    title: titleWithOptions(title, chosen),
    price: parsePrice(row.text(columns.price)),
    available: fields.available === true && isInStock(row),
    featured_image: row.text(columns.variantImage) || undefined,
  };
}

/** One product with the lowest and highest price of all variants. */
function asOne(handle: string, variants: readonly SourceRow[], parent: Parent): Draft | undefined {
  const [row] = variants;
  if (row === undefined) return undefined;
  const prices = variants.map((variant) => parsePrice(variant.text(columns.price))).filter((price) => price !== null);
  const numbers = prices.filter((price) => typeof price === "number");
  const wrong = prices.find((price) => typeof price === "string");
  const [min = null, max = null] = numbers.length === 0 ? [] : [Math.min(...numbers), Math.max(...numbers)];
  const available = parent.fields.available === true && variants.some(isInStock);
  const fields = { id: handle, sku: handle, price: wrong ?? min, price_min: min, price_max: max, available };
  return { row, parent, names: new Map([["handle", handle]]), fields };
}

/** Stock counts only where it is tracked and its end ends the sale. */
function isInStock(row: SourceRow): boolean {
  const stock = row.text(columns.stock);
  const policy = row.text(columns.policy).toLowerCase();
  const isCounted = row.text(columns.tracker) !== "" && stock !== "" && policy !== "continue" && policy !== "true";
  return !isCounted || parseFlag(stock) !== false;
}

/** Exports put an apostrophe before what a spreadsheet would take for a number. */
function skuOf(row: SourceRow): string {
  return row.text(columns.sku).replace(/^'/u, "");
}

/** The handle that Shopify makes for a product without one. */
function handleOf(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, "-")
    .replaceAll(/^-|-$/gu, "");
}
