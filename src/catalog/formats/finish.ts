import { cellParsers } from "../reading/csv.columns.js";
import { type ProductInput, productFieldNames } from "../product.input.js";
import { charactersMax, imagesMax } from "../product.rules.js";
import type { Draft, Layout, Parent } from "./layout.js";
import type { FieldTexts, FormatOptions } from "./options.js";
import { parseFlag, splitUrls } from "./values/cells.js";
import { plainText } from "./values/html.js";
import { parsePrice } from "./values/prices.js";
import { compileTemplate, type UrlTemplate } from "./values/template.js";

type Candidate = Partial<Record<keyof ProductInput, unknown>>;

/** Parsers for mapped columns, defaults, and Vitrine's own columns beside others. */
export const lenientParsers: Readonly<Record<keyof ProductInput, (text: string) => unknown>> = {
  ...cellParsers,
  title: plainText,
  description: plainText,
  price: parsePrice,
  price_min: parsePrice,
  price_max: parsePrice,
  available: parseFlag,
  images: (text) => splitUrls(text),
};

/** The columns of a mapping, in lower case, as layouts name columns. */
export type ColumnOfField = ReadonlyMap<keyof ProductInput, string>;

export function columnsOfFields(map: FieldTexts = {}, nameOf: (column: string) => string): ColumnOfField {
  return new Map(Object.entries(map).map(([field, column]) => [field as keyof ProductInput, nameOf(column)]));
}

/** Completes drafts: mapped columns first, then the format's, the parent's and defaults. */
export class ProductFinisher {
  readonly #defaults: Candidate;
  readonly #template: UrlTemplate | undefined;
  readonly #map: ColumnOfField;
  /** Of parents: each has many variants. */
  readonly #parsed = new WeakMap<Parent["row"], Candidate>();
  readonly #resolved = new WeakMap<readonly unknown[], unknown>();

  constructor({ map, defaults = {}, urlTemplate }: FormatOptions, layout: Pick<Layout, "nameOf">) {
    this.#map = columnsOfFields(map, layout.nameOf ?? lowerCase);
    this.#template = urlTemplate === undefined ? undefined : compileTemplate(urlTemplate);
    this.#defaults = Object.fromEntries(
      productFieldNames.map((name) => [
        name,
        defaults[name] === undefined ? undefined : lenientParsers[name](defaults[name]),
      ]),
    );
  }

  /** Besides those of the layout. */
  get columns(): ReadonlySet<string> {
    return new Set([...this.#map.values(), ...(this.#template?.placeholders.flat().flatMap(columnsOf) ?? [])]);
  }

  get placeholders(): UrlTemplate["placeholders"] {
    return this.#template?.placeholders ?? [];
  }

  finish(draft: Draft): Candidate {
    const candidate: Candidate = {};
    for (const name of productFieldNames) candidate[name] = this.#valueOf(name, draft);
    const images = this.#resolvedImages(candidate.images);
    candidate.images = images;
    const featured = candidate.featured_image ?? (Array.isArray(images) ? images[0] : undefined);
    candidate.featured_image = resolved(featured ?? this.#defaults.featured_image, this.#template?.origin);
    if (!this.#map.has("url")) candidate.url = this.#urlOf(draft, candidate) ?? candidate.url;
    candidate.url = encodeSpaces(candidate.url);
    return candidate;
  }

  #valueOf(name: keyof ProductInput, { row, fields, parent }: Draft): unknown {
    const column = this.#map.get(name);
    if (column !== undefined) {
      const text = row.text([column]);
      if (text !== "") return lenientParsers[name](text);
      const value = parent && this.#parsedOf(name, column, parent);
      if (value !== undefined) return value;
    }
    const found = present(fields[name]) ?? present(parent?.fields[name]);
    return found ?? (name === "featured_image" ? undefined : this.#defaults[name]);
  }

  /** Undefined where its column is empty. */
  #parsedOf(name: keyof ProductInput, column: string, { row }: Parent): unknown {
    const parsed = this.#parsed.get(row) ?? {};
    this.#parsed.set(row, parsed);
    if (!Object.hasOwn(parsed, name)) {
      const text = row.text([column]);
      parsed[name] = text === "" ? undefined : lenientParsers[name](text);
    }
    return parsed[name];
  }

  /** Of a list that is too long, one more than a product may have: it is refused all the same. */
  #resolvedImages(images: unknown): unknown {
    const origin = this.#template?.origin;
    if (!Array.isArray(images)) return resolved(images, origin);
    const list = this.#resolved.get(images) ?? images.slice(0, imagesMax + 1).map((url) => resolved(url, origin));
    this.#resolved.set(images, list);
    return list;
  }

  /** Columns of the row come first, then values of the product, then columns of its parent. */
  #urlOf({ row, names, parent }: Draft, candidate: Candidate): string | undefined {
    return this.#template?.fill((name) => {
      const own = (names?.get(name) ?? "") || row.text(columnsOf(name));
      const ofProduct = Object.hasOwn(candidate, name) ? textOf(candidate[name as keyof ProductInput]) : "";
      return own || ofProduct || (parent?.row.text(columnsOf(name)) ?? "");
    });
  }
}

export function lowerCase(column: string): string {
  return column.trim().toLowerCase();
}

/** Spellings for a placeholder: `{url_key}` is `url_key` or `URL key`. */
export function columnsOf(name: string): string[] {
  return [name, name.replaceAll("_", " ")];
}

function textOf(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

function present(value: unknown): unknown {
  const isMissing = value === null || value === "" || (Array.isArray(value) && value.length === 0);
  return isMissing ? undefined : value;
}

/** Relative URLs at the shop's own host; spaces encoded. */
function resolved(value: unknown, origin: string | undefined): unknown {
  if (typeof value === "string" && value.length > 2 * charactersMax.url) return value; // refused
  if (typeof value !== "string" || origin === undefined || /^(?:[a-z][a-z\d+.-]*:)?\/\/|^data:/iu.test(value)) {
    return encodeSpaces(value);
  }
  try {
    return new URL(`/${value.replace(/^\/+/u, "")}`, origin).href;
  } catch {
    return value;
  }
}

function encodeSpaces(value: unknown): unknown {
  return typeof value === "string" && value.length <= 2 * charactersMax.url
    ? value.trim().replaceAll(" ", "%20")
    : value;
}
