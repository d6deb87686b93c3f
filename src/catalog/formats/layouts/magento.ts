import { ParentRows } from "../parentRows.js";
import type { Draft, Fields, Layout, RowReader, RowReaderOptions } from "../layout.js";
import type { SourceRow } from "../row.js";
import { isWithin, parseFlag, splitUrls } from "../values/cells.js";
import { plainText } from "../values/html.js";
import { parsePrice } from "../values/prices.js";

const columns = {
  sku: ["sku"],
  type: ["product_type", "type"],
  storeView: ["store_view_code"],
  name: ["name"],
  description: ["description"],
  shortDescription: ["short_description"],
  price: ["price"],
  specialPrice: ["special_price"],
  specialFrom: ["special_price_from_date", "special_from_date"],
  specialTo: ["special_price_to_date", "special_to_date"],
  status: ["product_online", "status"],
  inStock: ["is_in_stock"],
  stock: ["qty"],
  manageStock: ["manage_stock"],
  backorders: ["allow_backorders"],
  image: ["base_image", "image"],
  moreImages: ["additional_images"],
  urlKey: ["url_key"],
  visibility: ["visibility"],
  variations: ["configurable_variations"],
  grouped: ["associated_skus", "associated_sku"],
} as const;

/** An export has some of these columns, other CSV has none. */
const marks = ["product_type", "attribute_set_code", "attribute_set", "store_view_code", "url_key", "is_in_stock"];

/**
 * Magento's product CSV. Configurable and grouped products list their children by SKU, usually below them: a child that
 * lacks something waits for its parent.
 */
export const magento: Layout = {
  name: "Magento",
  reads: new Set(Object.values(columns).flat()),
  needs: { title: columns.name, featured_image: [...columns.image, ...columns.moreImages], url: [] },
  isIn: (names) => names.has("sku") && names.has("name") && marks.some((name) => names.has(name)),
  createReader: (options) => new MagentoReader(options),
};

class MagentoReader implements RowReader {
  readonly #parents: ParentRows;
  /** Whether there are parents to wait for. */
  readonly #hasParents: boolean;
  readonly #hasUrlKeys: boolean;

  constructor(private readonly options: RowReaderOptions) {
    this.#parents = new ParentRows(options.notes);
    const has = (names: readonly string[]) => names.some((name) => options.columns?.has(name) === true);
    this.#hasParents = has([...columns.variations, ...columns.grouped]);
    this.#hasUrlKeys = has(columns.urlKey);
  }

  *take(row: SourceRow): Generator<Draft, void> {
    const { notes } = this.options;
    const children = childrenOf(row);
    if (row.text(columns.storeView) !== "") {
      notes.count("values of a store view are not used: those of all views are.", row.line);
    } else if (children === undefined) {
      yield* this.#takeSimple(row);
    } else {
      notes.count("configurable and grouped products are not stored: the simple products in them are.", row.line);
      yield* this.#parents.remember(children, { fields: this.#parentFields(row), row });
    }
  }

  *#takeSimple(row: SourceRow): Generator<Draft, void> {
    const sku = row.text(columns.sku);
    const draft = { row, fields: this.#fields(row), parent: this.#parents.parentOf(sku) };
    if (draft.parent === undefined && this.#waits(row, draft.fields)) yield* this.#parents.wait(sku, draft);
    else yield draft;
  }

  end(): readonly Draft[] {
    return this.#parents.end();
  }

  /** A product that shops do not list by itself may lack what its parent has. */
  #waits(row: SourceRow, fields: Fields): boolean {
    if (!this.#hasParents || !/^(?:not visible.*)?$/iu.test(row.text(columns.visibility))) return false;
    const lacks = [fields.title, fields.description, fields.featured_image, fields.price].some((value) => !value);
    return lacks || (this.#hasUrlKeys && row.text(columns.urlKey) === "");
  }

  #fields(row: SourceRow): Fields {
    const sku = row.text(columns.sku);
    return { ...this.#parentFields(row), id: sku, sku, available: isAvailable(row) };
  }

  #parentFields(row: SourceRow): Fields {
    const [image, ...others] = [...new Set([...splitUrls(row.text(columns.image)), ...imagesOf(row)])].filter(
      (path) => path !== "no_selection",
    );
    return {
      title: plainText(row.text(columns.name)),
      description: plainText(row.text(columns.description) || row.text(columns.shortDescription)) || null,
      price: this.#priceOf(row),
      images: image === undefined ? [] : [image, ...others],
      featured_image: image,
    };
  }

  #priceOf(row: SourceRow): unknown {
    const special = row.text(columns.specialPrice);
    const isOn =
      special !== "" && isWithin(this.options.now, row.text(columns.specialFrom), row.text(columns.specialTo));
    return parsePrice(isOn ? special : row.text(columns.price));
  }
}

/** SKUs listed by a configurable or grouped product; undefined for any other. */
function childrenOf(row: SourceRow): string[] | undefined {
  const [type, variations, grouped] = [row.text(columns.type), row.text(columns.variations), row.text(columns.grouped)];
  if (/^(?:configurable|grouped)$/iu.test(type) || variations !== "" || grouped !== "") {
    const configured = Array.from(variations.matchAll(/(?:^|\|)\s*sku=([^,|]+)/giu), ([, sku = ""]) => sku.trim());
    const joined = grouped.split(/[,\n|]/u).map((entry) => entry.replace(/=[^=]*$/u, "").trim());
    return [...configured, ...joined].filter((sku) => sku !== "");
  }
  return undefined;
}

/** Paths of images do not contain commas. */
function imagesOf(row: SourceRow): string[] {
  return splitUrls(row.text(columns.moreImages), /[,|\n]/u);
}

function isAvailable(row: SourceRow): boolean | string {
  const status = row.text(columns.status);
  const isOnline = status !== "2" && parseFlag(status) !== false; // 2: disabled
  const stated = parseFlag(row.text(columns.inStock));
  if (stated !== null && typeof stated !== "boolean") return stated;
  const isOrdered = /^[1-9]/u.test(row.text(columns.backorders)) || row.text(columns.manageStock) === "0";
  const isInStock = stated ?? (isOrdered || parseFlag(row.text(columns.stock)) !== false);
  return isOnline && isInStock;
}
