import type { Draft, Fields, Parent, RowReader } from "../layout.js";
import { optionKey, keyWithOptions, titleWithOptions } from "../values/variantKeys.js";
import { commandOf, kindOf } from "./rowCommands.js";
import { ParentRows } from "./parentRows.js";
import { copied, emptyRow, type SourceRow } from "./row.js";
import type { RowFields } from "./rowFields.js";

/** Shopify has at most 2,048 variants and 250 images of a product. */
const groupRowsMax = 4_096;
const groupCharactersMax = 4 * 1024 * 1024;

const sharedSkuNote =
  "other variants have its SKU too, so that its id and sku are made of its product's handle and its options.";

interface Group {
  readonly handle: string;
  readonly rows: SourceRow[];
  characters: number;
}

function cellText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/**
 * Adjacent rows of one product: its variants and further images. Variants that are apart take missing values from the rows with
 * the product's title, before or after them.
 */
export class AdjacentRows implements RowReader {
  readonly #parents: ParentRows;
  /** Whether rows say what they are. */
  readonly #hasKinds: boolean;
  #group: Group | undefined;

  constructor(private readonly fields: RowFields) {
    this.#parents = new ParentRows(fields.options.notes);
    this.#hasKinds = fields.has("kind");
  }

  *take(row: SourceRow): Generator<Draft, void> {
    const handle = this.#handleOf(row);
    const { rows, characters } = this.#group ?? { rows: [], characters: 0 };
    const isFull = rows.length >= groupRowsMax || characters >= groupCharactersMax;
    if (this.#group?.handle !== handle || isFull) {
      yield* this.#finish();
      this.#group = { handle, rows: [], characters: 0 };
    }
    this.#group.rows.push(row);
    this.#group.characters += row.characters;
  }

  *end(): Generator<Draft, void> {
    yield* this.#finish();
    for (const draft of this.#parents.end()) yield this.#variant(draft);
  }

  #handleOf(row: SourceRow): string {
    const { fields } = this;
    const own = fields.text(row, "handle");
    if (own !== "") return own;
    const current = this.#group?.handle ?? "";
    if (this.#hasKinds) {
      if (kindOf(row, fields) !== "product") return current;
      const key = fields.text(row, "key") || `line ${row.line}`;
      return fields.has("handle") ? key : `${key}\n${row.line}`; // each row of kind product begins a new one
    }
    return optionKey(fields.text(row, "title")) || current;
  }

  /** The handle, or its substitute in systems without handles. */
  #nameOf(handle: string): string {
    return this.fields.has("handle") ? handle : (handle.split("\n", 1)[0] ?? "");
  }

  *#finish(): Generator<Draft, void> {
    if (this.#group === undefined) return;
    const { handle, rows } = this.#group;
    this.#group = undefined;
    const known = this.#parents.parentOf(handle);
    const parent = known ?? this.#parentOf(rows);
    const isTitled = known === undefined && (parent.fields.title !== "" || !this.fields.has("title"));
    const waited = isTitled ? this.#parents.remember([handle], parent) : [];
    const isContinued = known !== undefined || waited.length > 0;
    const variants = this.#variantRows(rows, isContinued);
    const drafts = this.#drafts(handle, variants, { rows, parent });
    for (const row of rows) this.#noteOther(row, variants.includes(row), known !== undefined);
    if (this.fields.options.onePer === "product") yield* this.#asOne(handle, drafts, isContinued);
    else if (isTitled || known !== undefined) yield* this.#variants(drafts);
    else for (const draft of drafts) yield* this.#wait(handle, draft);
    yield* this.#variants(waited);
  }

  *#variants(drafts: readonly Draft[]): Generator<Draft, void> {
    for (const draft of drafts) yield this.#variant(draft);
  }

  *#wait(handle: string, draft: Draft): Generator<Draft, void> {
    for (const released of this.#parents.wait(handle, draft)) yield this.#variant(released);
  }

  /** Notes rows that are not stored. */
  #drafts(
    handle: string,
    variants: readonly SourceRow[],
    { rows, parent }: { rows: readonly SourceRow[]; parent: Parent },
  ): Draft[] {
    const names = new Map([["handle", this.#nameOf(handle)]]);
    const from = rows.map(({ line }) => line);
    return variants.flatMap((row) => {
      const command = commandOf(row, this.fields, parent.row);
      if (command === "skip") return [];
      return [{ row, parent, names, from, fields: {}, ...(typeof command === "object" && command) }];
    });
  }

  /** All rows with a price, SKU or option; the first one of a product without any. */
  #variantRows(rows: readonly SourceRow[], isContinued: boolean): readonly SourceRow[] {
    const { fields } = this;
    const kinds = this.#hasKinds ? rows.map((row) => kindOf(row, fields)) : [];
    const variants = rows.filter((row, at) =>
      this.#hasKinds ? kinds[at] === "variant" : fields.text(row, "option", "price", "sku") !== "",
    );
    if (variants.length > 0 || isContinued) return variants;
    return this.#hasKinds ? rows.filter((_, at) => kinds[at] === "product") : rows.slice(0, 1);
  }

  #parentOf(rows: readonly SourceRow[]): Parent {
    const { fields } = this;
    const products = this.#hasKinds ? rows.filter((row) => kindOf(row, fields) === "product") : rows;
    const titled = products.find((row) => fields.title(row) !== "") ?? products[0] ?? emptyRow;
    const found = products.map((row) => fields.shared(row));
    const first = (name: keyof Fields) =>
      found.map((each) => each[name]).find((value) => value !== "" && value !== null) ?? null;
    const images = rows
      .map((row, at) => ({ urls: fields.images(row), position: Number(fields.text(row, "position")) || at + 1 }))
      .toSorted((a, b) => a.position - b.position)
      .flatMap(({ urls }) => urls);
    const texts = { title: first("title") ?? "", description: first("description"), url: first("url") };
    return {
      row: titled.copy(),
      from: rows.map(({ line }) => line),
      fields: copied({ ...texts, images: [...new Set(images)], featured_image: images[0] }),
    };
  }

  #noteOther(row: SourceRow, isVariant: boolean, isApart: boolean): void {
    const { notes } = this.fields.options;
    const hasImage = this.fields.text(row, "image") !== "";
    const apart = "its image is not used, because the other rows of its product are not adjacent.";
    if (isVariant) {
      if (hasImage && isApart) notes.count(apart, row.line);
    } else if (this.#hasKinds && kindOf(row, this.fields) === "product") {
      notes.skip("a product is not stored by itself: its variants are.", row.line);
    } else if (hasImage) notes.skip(isApart ? apart : "no product of its own, but a further image of one.", row.line);
    else notes.skip("not stored: it is no product or variant.", row.line);
  }

  #variant(draft: Draft): Draft {
    const { row, parent, names } = draft;
    const { fields } = this;
    const isProduct = this.#hasKinds && kindOf(row, fields) === "product";
    const product = parent?.row ?? emptyRow;
    const options = isProduct ? [] : fields.optionValues(row);
    const key = fields.text(product, "key") || (names?.get("handle") ?? "");
    const shared = fields.sharedSku(row);
    const sku = this.#skuOf(row, keyWithOptions(key, options), shared !== undefined);
    return {
      ...draft,
      from: [...(draft.from ?? []), ...(shared ?? [])],
      fields: {
        id: sku,
        sku,
        title: titleWithOptions(cellText(parent?.fields.title), options),
        price: fields.price(row, this.#hasKinds ? product : emptyRow),
        available: fields.available(row, product),
        featured_image: fields.variantImage(row),
      },
    };
  }

  /** @param made the key of its product and options */
  #skuOf(row: SourceRow, made: string, isShared: boolean): string {
    // Exports put an apostrophe before text that a spreadsheet would read as a number.
    const own = this.fields.text(row, "sku").replace(/^'/u, "");
    if (isShared && made !== own) this.fields.options.notes.count(sharedSkuNote, row.line);
    return isShared ? made : own || made;
  }

  /** One product with the lowest and highest price of all variants. */
  *#asOne(handle: string, drafts: readonly Draft[], isContinued: boolean): Generator<Draft, void> {
    const { notes } = this.fields.options;
    const apart = "not stored, because the other rows of its product are not adjacent (--one-per product).";
    for (const { row } of drafts.slice(isContinued ? 0 : 1)) {
      notes.skip(isContinued ? apart : "not stored by itself: its product is (--one-per product).", row.line);
    }
    const variants = isContinued ? [] : drafts.map((draft) => this.#variant(draft).fields);
    const [draft] = drafts;
    if (draft === undefined || variants.length === 0) return;
    const prices = variants.map(({ price }) => price).filter((price) => price !== null);
    const numbers = prices.filter((price) => typeof price === "number");
    const wrong = prices.find((price) => typeof price === "string");
    const [min = null, max = null] = numbers.length === 0 ? [] : [Math.min(...numbers), Math.max(...numbers)];
    const flags = variants.map(({ available }) => available);
    const available = flags.find((flag) => typeof flag === "string") ?? flags.includes(true);
    yield {
      ...draft,
      fields: {
        id: this.#nameOf(handle),
        sku: this.#nameOf(handle),
        price: wrong ?? min,
        price_min: min,
        price_max: max,
        available,
      },
    };
  }
}
