import { cellParsers } from "../csv/csv.columns.js";
import { productFieldNames, type ProductInput } from "../product/product.fields.js";
import { imagesMax, urlCharactersMax } from "../product/product.rules.js";
import { columnName, type Draft, type Parent } from "./layout.js";
import type { FieldColumns, FormatOptions } from "./options.js";
import type { SourceRow } from "./rows/row.js";
import { plainText } from "./values/html.js";
import { isPath, splitUrls, trimmedUrl } from "./values/images.js";
import { parsePrice } from "./values/prices.js";
import { compileTemplate, type UrlTemplate } from "./values/template.js";

/** Without blanks, hyphens and underscores, because spreadsheets and systems write these in many ways. */
const yes = `true yes y on wahr vrai verdadero verdadeiro vero waar prawda sant sand ja oui sí si sim tak instock available active enabled
  visible published publish online unlisted unlimited continue notify preorder backorder onbackorder availablefororder
  limitedavailability limitedstock madetoorder onlineonly presale`;

const no = `false no n off falsch faux falso onwaar fałsz falsz falskt falsk nein non não nao nee nie nej outofstock unavailable inactive
  disabled invisible hidden unpublished private pending offline draft archived deny soldout discontinued markassold reserved
  instoreonly`;

const flags = new Map<string, boolean>([
  ...yes.split(/\s+/u).map((word) => [word, true] as const),
  ...no.split(/\s+/u).map((word) => [word, false] as const),
]);

/** No word is longer, and comparing longer texts would be costly. */
const charactersMax = 64;

export type Candidate = Partial<Record<keyof ProductInput, unknown>>;

/** Parsers for mapped columns, for defaults, and for Vitrine's own columns in other systems' files. */
export const lenientParsers: Readonly<Record<keyof ProductInput, (text: string) => unknown>> = {
  ...cellParsers,
  title: plainText,
  description: plainText,
  price: parsePrice,
  price_min: parsePrice,
  price_max: parsePrice,
  available: (text) => parseFlag(text),
  images: (text) => splitUrls(text),
};

/** The columns of a mapping, as layouts name columns. */
export type ColumnsOfField = ReadonlyMap<keyof ProductInput, readonly string[]>;

export function columnsOfFields(map: FieldColumns = {}): ColumnsOfField {
  return new Map(
    Object.entries(map).map(([field, columns]) => [field as keyof ProductInput, [columns].flat().map(columnName)]),
  );
}

const fieldsOfColumns = new Map(productFieldNames.map((name) => [columnName(name), name]));

/** Completes drafts: mapped columns first, then the format's, the parent's and defaults. */
export class ProductFinisher {
  readonly #defaults: Candidate;
  readonly #template: UrlTemplate | undefined;
  readonly #map: ColumnsOfField;
  /** The fields of a patch. */
  readonly #patched: readonly (keyof ProductInput)[];
  /** Parsed parents, because each has many variants. */
  readonly #parsed = new WeakMap<Parent["row"], Candidate>();
  readonly #resolved = new WeakMap<readonly unknown[], unknown>();

  /** @param header names the fields that a patch changes */
  constructor({ map, defaults = {}, urlTemplate }: FormatOptions, header: readonly string[] = []) {
    this.#map = columnsOfFields(map);
    this.#patched = productFieldNames.filter(
      (name) =>
        this.#map.has(name) ||
        header.includes(columnName(name)) ||
        defaults[name] !== undefined ||
        (name === "url" && urlTemplate !== undefined),
    );
    this.#template = urlTemplate === undefined ? undefined : compileTemplate(urlTemplate);
    this.#defaults = Object.fromEntries(
      productFieldNames.map((name) => [
        name,
        defaults[name] === undefined ? undefined : lenientParsers[name](defaults[name]),
      ]),
    );
  }

  /** Columns that are used besides those of the layout. */
  get columns(): ReadonlySet<string> {
    const ofTemplate = this.#template?.placeholders.flatMap(({ names }) => names) ?? [];
    return new Set([...this.#map.values(), ofTemplate].flat());
  }

  /** Columns of ids and skus. */
  get keyColumns(): readonly string[] {
    return ["id", "sku", ...(this.#map.get("id") ?? []), ...(this.#map.get("sku") ?? [])];
  }

  get placeholders(): UrlTemplate["placeholders"] {
    return this.#template?.placeholders ?? [];
  }

  finish(draft: Draft): Candidate {
    const candidate: Candidate = {};
    for (const name of productFieldNames) candidate[name] = this.#valueOf(name, draft);
    const images = this.#resolvedImages(candidate.images, draft.parent !== undefined);
    candidate.images = images;
    const featured = candidate.featured_image ?? (Array.isArray(images) ? images[0] : undefined);
    candidate.featured_image = resolved(featured ?? this.#defaults.featured_image, this.#template?.origin);
    if (!this.#map.has("url")) candidate.url = this.#urlOf(draft, candidate) ?? candidate.url;
    candidate.url = encodeSpaces(candidate.url);
    return candidate;
  }

  /** A patch has the fields of its columns; an empty cell means null. */
  finishPatch(draft: Draft): Candidate {
    const whole = this.finish(draft);
    return Object.fromEntries(
      this.#patched.map((name) => {
        const isOwn = name !== "images" && name !== "featured_image";
        return [name, (isOwn ? whole[name] : this.#imagesOf(name, draft)) ?? null];
      }),
    );
  }

  /** Unlike in a whole product, neither field is derived from the other. */
  #imagesOf(name: "images" | "featured_image", draft: Draft): unknown {
    const value = this.#valueOf(name, draft) ?? this.#defaults[name];
    return name === "images"
      ? this.#resolvedImages(value, draft.parent !== undefined)
      : resolved(value, this.#template?.origin);
  }

  #valueOf(name: keyof ProductInput, { row, fields, parent }: Draft): unknown {
    const columns = this.#map.get(name);
    const isKey = name === "id" || name === "sku"; // not taken from another row
    if (columns !== undefined) {
      const value =
        parsedOf(name, columns, row) ?? (parent && !isKey ? this.#parsedOf(name, columns, parent) : undefined);
      if (value !== undefined) return value;
    }
    const found = present(fields[name]) ?? (isKey ? undefined : present(parent?.fields[name]));
    return found ?? (name === "featured_image" ? undefined : this.#defaults[name]);
  }

  /** Undefined if its columns are empty. */
  #parsedOf(name: keyof ProductInput, columns: readonly string[], { row }: Parent): unknown {
    const parsed = this.#parsed.get(row) ?? {};
    this.#parsed.set(row, parsed);
    if (!Object.hasOwn(parsed, name)) parsed[name] = parsedOf(name, columns, row);
    return parsed[name];
  }

  /** Cuts a list that is too long to one more than a product may have: it is refused all the same. */
  #resolvedImages(images: unknown, isShared: boolean): unknown {
    const origin = this.#template?.origin;
    if (!Array.isArray(images)) return resolved(images, origin);
    const known = this.#resolved.get(images);
    if (known !== undefined) return known;
    const list = [...new Set(images.slice(0, imagesMax + 1).map((url) => resolved(url, origin)))];
    if (isShared) this.#resolved.set(images, list);
    return list;
  }

  /** Columns of the row come first, then values of the product, then columns of its parent. */
  #urlOf({ row, names, parent }: Draft, candidate: Candidate): string | undefined {
    return this.#template?.fill((name) => {
      const own = (names?.get(name) ?? "") || row.text([name]);
      const field = fieldsOfColumns.get(name);
      return own || (field === undefined ? "" : textOf(candidate[field])) || (parent?.row.text([name]) ?? "");
    });
  }
}

/** Undefined if the columns are empty. Images are taken from all columns. */
function parsedOf(name: keyof ProductInput, columns: readonly string[], row: SourceRow): unknown {
  if (name === "images") {
    const texts = columns.length === 1 ? row.texts(columns[0] ?? "") : columns.flatMap((column) => row.texts(column));
    const urls = texts.length === 1 ? splitUrls(texts[0] ?? "") : texts.flatMap((text) => splitUrls(text));
    return urls.length === 0 ? undefined : urls.length === 1 ? urls : [...new Set(urls)];
  }
  const text = row.text(columns);
  return text === "" ? undefined : lenientParsers[name](text);
}

function textOf(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

function present(value: unknown): unknown {
  const isMissing = value === null || value === "" || (Array.isArray(value) && value.length === 0);
  return isMissing ? undefined : value;
}

/** Resolves relative paths of images at the shop's host, and encodes spaces. Anything else is returned unchanged, to be refused. */
function resolved(value: unknown, origin: string | undefined): unknown {
  if (typeof value !== "string" || value.length > 2 * urlCharactersMax) return value; // refused
  const text = trimmedUrl(value);
  if (/^(?:https?:)?\/\//iu.test(text)) return encodeSpaces(text);
  if (origin === undefined || !isPath(text)) return value;
  try {
    return new URL(`/${text.replace(/^\/+/u, "")}`, origin).href;
  } catch {
    return value;
  }
}

function encodeSpaces(value: unknown): unknown {
  if (typeof value !== "string" || value.length > 2 * urlCharactersMax) return value;
  const text = value.trim();
  return text.includes(" ") ? text.replaceAll(" ", "%20") : text;
}

/**
 * Whether something can be bought, by a word in several languages, a term of schema.org, or a number in stock. Null for an empty
 * text; any other text is returned unchanged.
 *
 * @param isCount whether any number counts as stock, and not only 1 and 0
 */
export function parseFlag(text: string, isCount = true): boolean | string | null {
  if (text === "") return null;
  const written = flags.get(text);
  if (written !== undefined) return written;
  if (text.length > charactersMax) return text;
  const word = text
    .toLowerCase()
    .normalize("NFC")
    .replace(/^https?:\/\/(?:www\.)?schema\.org\//u, "")
    .replaceAll(/[\s_-]+/gu, "");
  const known = flags.get(word);
  if (known !== undefined) return known;
  const number = /^-?\d[\d.,']*$/u.test(text) ? parsePrice(text) : text;
  if (typeof number !== "number" || !(isCount || [1, 0, -1].includes(number))) return text;
  return number > 0;
}
