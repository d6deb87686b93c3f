import { ParentRows } from "../parentRows.js";
import type { Draft, Fields, Layout, Parent, RowReader, RowReaderOptions } from "../layout.js";
import type { SourceRow } from "../row.js";
import { isWithin, parseFlag, splitUrls } from "../values/cells.js";
import { plainText } from "../values/html.js";
import { keyWithOptions, titleWithOptions } from "../values/options.js";
import { parsePrice } from "../values/prices.js";

const columns = {
  id: ["id"],
  type: ["type"],
  sku: ["sku"],
  name: ["name"],
  published: ["published"],
  description: ["description"],
  shortDescription: ["short description"],
  inStock: ["in stock?"],
  stock: ["stock"],
  backorders: ["backorders allowed?"],
  salePrice: ["sale price"],
  saleStarts: ["date sale price starts"],
  saleEnds: ["date sale price ends"],
  regularPrice: ["regular price"],
  images: ["images"],
  parent: ["parent"],
} as const;

const attributesMax = 20;
const numbers = Array.from({ length: attributesMax }, (_, index) => index + 1);
const attributeValues = numbers.map((n) => `attribute ${n} value(s)`);
/** Titles of variations lack what the values are of. */
const attributeNames = numbers.map((n) => `attribute ${n} name`);

/** WooCommerce's product CSV: variations name their parent by SKU or, as `id:44`, by ID, and may come before it. */
export const woocommerce: Layout = {
  name: "WooCommerce",
  reads: new Set([...Object.values(columns).flat(), ...attributeValues, ...attributeNames]),
  needs: { title: columns.name, featured_image: columns.images, url: [] },
  isIn: (names) =>
    names.has("name") &&
    ["regular price", "in stock?", "visibility in catalog"].some((name) => names.has(name)) &&
    ["id", "sku", "type"].some((name) => names.has(name)),
  createReader: (options) => new WooCommerceReader(options),
};

type Kind = "sold" | "variation" | "variable" | "grouped" | "external";

class WooCommerceReader implements RowReader {
  readonly #parents: ParentRows;

  constructor(private readonly options: RowReaderOptions) {
    this.#parents = new ParentRows(options.notes);
  }

  *take(row: SourceRow): Generator<Draft, void> {
    const kind = kindOf(row);
    if (kind === "sold") yield { row, fields: this.#soldFields(row) };
    else if (kind === "variation") yield* this.#takeVariation(row);
    else if (kind === "variable") yield* this.#takeParent(row);
    else
      this.options.notes.count(
        `products of type ${kind} are not stored, since they cannot be put into a cart.`,
        row.line,
      );
  }

  *end(): Generator<Draft, void> {
    for (const draft of this.#parents.end()) yield this.#variation(draft);
  }

  *#takeParent(row: SourceRow): Generator<Draft, void> {
    const fields = { ...sharedFields(row), price: this.#priceOf(row), available: isPublished(row) };
    const keys = [row.text(columns.sku), row.text(columns.id) && `id:${row.text(columns.id)}`].filter(
      (key) => key !== "",
    );
    this.options.notes.count("products of type variable are not stored: their variations are.", row.line);
    for (const draft of this.#parents.remember(keys, { fields, row })) yield this.#variation(draft);
  }

  *#takeVariation(row: SourceRow): Generator<Draft, void> {
    const key = row.text(columns.parent);
    const parent = this.#parents.parentOf(key);
    if (parent !== undefined || key === "") yield this.#variation({ row, fields: {}, parent });
    else for (const draft of this.#parents.wait(key, { row, fields: {} })) yield this.#variation(draft);
  }

  #variation({ row, parent }: Draft): Draft {
    const values = attributeValues.map((name) => row.text([name])).filter((value) => value !== "");
    const available = parent?.fields.available !== false && isPublished(row) && isInStock(row);
    const fields = {
      ...sharedFields(row),
      ...variationKeys(row, values, parent),
      title: titleOf(row, values, parent),
      price: this.#priceOf(row),
      available,
    };
    return { row, parent, fields };
  }

  #soldFields(row: SourceRow): Fields {
    const [id, sku] = [row.text(columns.id), row.text(columns.sku)];
    const available = isPublished(row) && isInStock(row);
    return { ...sharedFields(row), id: id || sku, sku: sku || id, price: this.#priceOf(row), available };
  }

  #priceOf(row: SourceRow): unknown {
    const sale = row.text(columns.salePrice);
    const isOn = sale !== "" && isWithin(this.options.now, row.text(columns.saleStarts), row.text(columns.saleEnds));
    return parsePrice(isOn ? sale : row.text(columns.regularPrice));
  }
}

/** A list, such as "simple, downloadable, virtual". */
function kindOf(row: SourceRow): Kind {
  const types = row.text(columns.type).toLowerCase();
  if (types.includes("variation")) return "variation";
  if (types.includes("variable")) return "variable";
  if (types.includes("grouped")) return "grouped";
  if (types.includes("external")) return "external";
  return types === "" && row.text(columns.parent) !== "" ? "variation" : "sold";
}

function sharedFields(row: SourceRow): Fields {
  const text = row.text(columns.description) || row.text(columns.shortDescription);
  const images = splitUrls(row.text(columns.images));
  return {
    title: plainText(row.text(columns.name)),
    description: plainText(text.replaceAll(String.raw`\n`, "\n")) || null, // as exports write line breaks
    images,
    featured_image: images[0],
  };
}

/** A variation without a SKU has keys made of the parent's and the values of any attributes. */
function variationKeys(row: SourceRow, values: readonly string[], parent: Parent | undefined) {
  const [id, sku, family] = [row.text(columns.id), row.text(columns.sku), parent?.row.text(columns.sku) ?? ""];
  if (sku !== "") return { id: id || sku, sku };
  const key = family !== "" && values.length > 0 ? keyWithOptions(family, values) : id;
  return { id: key, sku: key };
}

function titleOf(row: SourceRow, values: readonly string[], parent: Parent | undefined): string {
  const own = plainText(row.text(columns.name));
  const family = typeof parent?.fields.title === "string" ? parent.fields.title : "";
  return own === "" || own === family ? titleWithOptions(family, values) : own;
}

/** Private products and drafts cannot be bought. */
function isPublished(row: SourceRow): boolean {
  return parseFlag(row.text(columns.published)) !== false;
}

function isInStock(row: SourceRow): boolean | string {
  const stated = parseFlag(row.text(columns.inStock));
  if (stated !== null) return stated;
  const isLeft = parseFlag(row.text(columns.stock)) !== false;
  return isLeft || /^(?:1|yes|notify)$/iu.test(row.text(columns.backorders));
}
