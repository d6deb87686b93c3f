import { type Fields, type Layout, namesIn, namesOf, type Role, type RowReaderOptions } from "../layout.js";
import { parseFlag } from "../completeProduct.js";
import { DateReader } from "../values/dates.js";
import { plainText } from "../values/html.js";
import { splitUrls } from "../values/images.js";
import { computedPrice, parsePrice } from "../values/prices.js";
import { emptyRow, type SourceRow } from "./row.js";

/** What a variant takes from its product if it has no value. */
const salesRoles = ["salePrice", "onSale", "saleStart", "saleEnd", "saleDates", "discount", "discountMode"] as const;
const noSale = "the sale price is not used:";

type Flag = boolean | string | null;

/** Reads the values of rows by a layout's table. */
export class RowFields {
  readonly #names = new Map<Role, readonly string[]>();
  readonly #untaxed: readonly string[];
  readonly #dates: DateReader;

  constructor(
    readonly layout: Layout,
    readonly options: RowReaderOptions,
  ) {
    const roles = Object.keys(layout.columns) as Role[];
    for (const role of roles) this.#names.set(role, namesOf(layout, role, options.columns));
    this.#untaxed = namesIn(layout.untaxed ?? "");
    this.#dates = new DateReader(options.timeZone);
  }

  names(role: Role): readonly string[] {
    return this.#names.get(role) ?? [];
  }

  has(...roles: readonly Role[]): boolean {
    return roles.some((role) => this.names(role).length > 0);
  }

  /** The first text that a row has for one of these. */
  text(row: SourceRow, ...roles: readonly Role[]): string {
    for (const role of roles) {
      const text = row.text(this.names(role));
      if (text !== "") return text;
    }
    return "";
  }

  /** The lines of two products with this row's SKU, if it is not the only one. */
  sharedSku(row: SourceRow): readonly number[] | undefined {
    const { sharedSkus } = this.options;
    return sharedSkus.size === 0 ? undefined : sharedSkus.get(this.text(row, "sku"));
  }

  /** The fields of a product by itself, or those that its variants share. */
  shared(row: SourceRow): Fields {
    const description = this.text(row, "description");
    const images = this.images(row);
    return {
      title: this.title(row),
      description:
        plainText(
          this.layout.escapesLines === true ? description.replaceAll(String.raw`\n`, "\n") : structured(description),
        ) || null,
      images,
      featured_image: images[0],
      url: this.text(row, "url") || null,
    };
  }

  title(row: SourceRow): string {
    return plainText(structured(this.text(row, "title")));
  }

  images(row: SourceRow): string[] {
    const { imagePaths = false, imageBase } = this.layout;
    const found = [...this.names("image"), ...this.names("moreImages")]
      .flatMap((name) => row.texts(name))
      .flatMap((text) => splitUrls(text, imagePaths));
    const all = [...new Set(found)];
    return imageBase === undefined ? all : all.map((name) => (/^[\w~.-]+$/u.test(name) ? imageBase + name : name));
  }

  /** The image of a variant. */
  variantImage(row: SourceRow): string | undefined {
    return splitUrls(this.text(row, "variantImage"), this.layout.imagePaths)[0];
  }

  /** The sale price if the sale is on and it is below the price, else the price. */
  price(row: SourceRow, product: SourceRow = emptyRow): unknown {
    const regular = this.#regular(row, product);
    const sale = this.#sale(row, product, regular);
    if (sale === undefined) return regular;
    const because = (reason: string) => this.options.notes.count(`${noSale} ${reason}`, row.line);
    if (sale === null) because("it cannot be read, or it is not known whether the sale is on.");
    else if (typeof regular !== "number") because("there is no regular price.");
    else if (sale <= 0) because("it is not above 0.");
    else if (sale > regular) because("it is above the price.");
    else return sale;
    return regular;
  }

  #regular(row: SourceRow, product: SourceRow): unknown {
    const own = this.text(row, "price");
    const price = parsePrice(own || this.text(product, "price"));
    if (own !== "" && row.text(this.names("price").filter((name) => !this.#untaxed.includes(name))) === "") {
      this.options.notes.count("the price without tax is stored, because the file has no other.", row.line);
    }
    const surcharge = parsePrice(this.text(row, "surcharge"));
    if (own !== "" || surcharge === null || typeof price !== "number") return price;
    return typeof surcharge === "number"
      ? computedPrice(price, { less: -surcharge }, this.options.decimals)
      : surcharge;
  }

  /** Undefined if there is no sale now, null if that cannot be read. */
  #sale(row: SourceRow, product: SourceRow, regular: unknown): number | null | undefined {
    const amount = this.#saleAmount(row, product, regular);
    if (amount === undefined) return undefined;
    const isOn = this.#isSaleOn(row, product);
    if (isOn === false) return undefined;
    const stated = this.has("onSale") ? parseFlag(this.#inherited(row, product, "onSale"), false) : true;
    if (stated === false || stated === null) return undefined;
    return isOn === undefined || typeof stated === "string" || typeof amount !== "number" ? null : amount;
  }

  /** Undefined if the dates cannot be read. */
  #isSaleOn(row: SourceRow, product: SourceRow): boolean | undefined {
    const dates = this.#inherited(row, product, "saleDates");
    if (dates !== "") return this.#dates.isWithinRange(this.options.now, dates);
    const [starts, ends] = [this.#inherited(row, product, "saleStart"), this.#inherited(row, product, "saleEnd")];
    return this.#dates.isWithin(this.options.now, starts, ends);
  }

  #saleAmount(row: SourceRow, product: SourceRow, regular: unknown): unknown {
    const sale = parsePrice(this.#inherited(row, product, "salePrice"));
    if (sale !== null) return sale;
    const discount = parsePrice(this.#inherited(row, product, "discount"));
    const percent = parsePrice(this.text(row, "discountPercent").replace(/%$/u, ""));
    const isPercent = /^percent/iu.test(this.#inherited(row, product, "discountMode"));
    if (typeof discount === "string" || typeof percent === "string") return null;
    const [amount, share] = isPercent ? [0, discount ?? 0] : [discount ?? 0, percent ?? 0];
    if ((amount === 0 && share === 0) || typeof regular !== "number") return undefined;
    return computedPrice(regular, { percent: share, less: amount }, this.options.decimals);
  }

  #inherited(row: SourceRow, product: SourceRow, role: (typeof salesRoles)[number]): string {
    return this.text(row, role) || this.text(product, role);
  }

  /** Whether it is published and in stock, or sold without stock. A text that cannot be read; null if a required answer is missing. */
  available(row: SourceRow, product: SourceRow = emptyRow): Flag {
    const published = [product, row].flatMap((each) =>
      this.names("published").map((name) => this.#flag("published", each.text([name]), false)),
    );
    // If every row is a variant, including the first one, each row states its own stock.
    const areVariants = this.layout.rows === "adjacent" && this.layout.kinds === undefined;
    const stock = this.#stock(row, areVariants ? emptyRow : product);
    return every([...published, stock]);
  }

  #stock(row: SourceRow, product: SourceRow): Flag {
    const counted = this.layout.trackers?.[this.text(product, "tracker").toLowerCase()];
    const own = counted === "product" ? null : this.#stockOf(row, counted === "row");
    if (own !== null) return own;
    const inherited = counted === "row" ? null : this.#stockOf(product);
    return inherited ?? (this.layout.needsStock === true ? null : true);
  }

  /** Null if the row does not say. @param isTracked whether its stock counts, whatever the row says */
  #stockOf(row: SourceRow, isTracked = false): Flag {
    const stated = this.#flag("inStock", this.text(row, "inStock"));
    const policy = this.#flag("policy", this.text(row, "policy"), false);
    if (typeof policy === "string") return policy;
    if (stated !== null) return stated;
    const tracker = this.text(row, "tracker").toLowerCase();
    const isCounted = isTracked || !this.has("tracker") || this.layout.words?.tracker?.[tracker] !== false;
    const stock = this.text(row, "stock");
    if (stock === "") return isTracked ? false : null;
    const isLeft = this.#flag("stock", stock);
    return !isCounted || policy === true ? true : isLeft;
  }

  #flag(role: Role, text: string, isCount = true): Flag {
    const own = this.layout.words?.[role];
    const word = text.toLowerCase();
    return own !== undefined && Object.hasOwn(own, word) ? (own[word] ?? null) : parseFlag(text, isCount);
  }

  /** The values of a variant's options. */
  optionValues(row: SourceRow): string[] {
    const cells = this.names("option").flatMap((name) => row.texts(name));
    const values = cells.flatMap(optionsIn);
    return values.length === 1 && values[0]?.toLowerCase() === "default title" ? [] : values;
  }
}

/** The first text that cannot be read, else false if any is; null if anything is unknown. */
function every(flags: readonly Flag[]): Flag {
  const unread = flags.find((flag) => typeof flag === "string");
  if (unread !== undefined) return unread;
  if (flags.includes(false)) return false;
  return flags.at(-1) ?? null;
}

/** BigCommerce lists them as `Type=Dropdown|Name=Size|Value=M` or `[S]Size=M,[RB]Colour=Red`. */
function optionsIn(cell: string): string[] {
  if (/(?:^|\|)Value=/u.test(cell)) {
    return Array.from(cell.matchAll(/(?:^|\|)Value=([^|]*)/gu), ([, value = ""]) => value.trim());
  }
  if (!cell.startsWith("[")) return [cell];
  return Array.from(cell.matchAll(/\[[A-Z]{1,4}\][^=,[\]]*=([^,]*)/gu), ([, value = ""]) => value.trim());
}

/** The content of Google's structured texts: `trained_algorithmic_media:"A mug"`. */
function structured(text: string): string {
  const content = /^(?:default|trained_algorithmic_media)\s*:\s*/iu.exec(text);
  return content === null
    ? text
    : text
        .slice(content[0].length)
        .replace(/^"([\s\S]*)"$/u, "$1")
        .replaceAll('""', '"');
}
