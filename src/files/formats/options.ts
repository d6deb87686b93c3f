import { AppError } from "../../errors.js";
import { type Delimiter } from "../csv/records.js";
import { type ProductInput, productFieldNames } from "../product/product.fields.js";
import { isEncoding } from "../encoding/decode.js";
import { compileTemplate } from "./values/template.js";

/** `auto` recognizes the layout by its columns. */
export const formatNames = [
  ...(["auto", "vitrine", "shopify", "woocommerce", "magento", "google"] as const),
  ...(["prestashop", "wix", "squarespace", "bigcommerce", "etsy", "matrixify", "ecwid"] as const),
] as const;
export type FormatName = (typeof formatNames)[number];

type FieldTexts = Readonly<Partial<Record<keyof ProductInput, string>>>;
/** Columns of fields; images may be in several. */
export type FieldColumns = Readonly<Partial<Record<keyof ProductInput, string | readonly string[]>>>;

/** Plain data, which can be sent to a thread. */
export interface FormatOptions {
  /** `auto` by default. */
  readonly format?: FormatName | undefined;
  /** Columns of fields that differ from the format's. */
  readonly map?: FieldColumns | undefined;
  /** Values for rows that have none. */
  readonly defaults?: FieldTexts | undefined;
  /** For example `https://shop.example/products/{handle}`. */
  readonly urlTemplate?: string | undefined;
  /** Detected by default. */
  readonly delimiter?: Delimiter | undefined;
  /** By default UTF-8, or as the byte order mark says. */
  readonly encoding?: string | undefined;
  /** By default each variant is a product; otherwise they make one with a range of prices. */
  readonly onePer?: "variant" | "product" | undefined;
  /** With mapped columns: rows with the same value in this column take missing values from the first of them. */
  readonly fillDown?: string | undefined;
  /** Whether messages may name options of the command line. */
  readonly isCommand?: boolean | undefined;
  /** The store's; UTC by default. */
  readonly timeZone?: string | undefined;
  /** Those of the store's currency; 2 by default. */
  readonly decimals?: number | undefined;
}

const delimitersByName: ReadonlyMap<string, Delimiter> = new Map([
  [",", ","],
  ["comma", ","],
  [";", ";"],
  ["semicolon", ";"],
  ["\t", "\t"],
  ["\\t", "\t"],
  ["tab", "\t"],
]);

/** Options as text, from a command line, a file or a query string. */
export interface FormatTexts {
  readonly format?: string | undefined;
  readonly map?: Readonly<Record<string, string | readonly string[]>> | undefined;
  readonly defaults?: Readonly<Record<string, string>> | undefined;
  readonly urlTemplate?: string | undefined;
  readonly delimiter?: string | undefined;
  readonly encoding?: string | undefined;
  readonly onePer?: string | undefined;
  readonly fillDown?: string | undefined;
}

/** @throws {AppError} BAD_REQUEST that names the option */
export function parseFormatOptions(texts: FormatTexts): FormatOptions {
  const { format, map, defaults, urlTemplate, delimiter, encoding, onePer, fillDown } = texts;
  if (urlTemplate !== undefined) compileTemplate(urlTemplate);
  if (encoding !== undefined && !isEncoding(encoding)) refuse(`The encoding ${JSON.stringify(encoding)} is not known.`);
  return {
    format: oneOf(formatNames, "The format", format?.toLowerCase()),
    map: map && fieldColumns(map),
    defaults: defaults && knownFields(defaults),
    urlTemplate,
    delimiter: delimiter === undefined ? undefined : parseDelimiter(delimiter),
    encoding,
    onePer: oneOf(["variant", "product"] as const, "One product per", onePer?.toLowerCase()),
    fillDown,
  };
}

/**
 * Options of a query string, where `map` and `default` are repeated as `field:value`.
 *
 * @throws {AppError} BAD_REQUEST that names the option
 */
export function parseFileParameters(texts: Readonly<Record<string, readonly string[]>>): FormatOptions {
  const { map, default: defaults, ...others } = texts;
  return parseFormatOptions({
    ...Object.fromEntries(Object.entries(others).map(([name, [text]]) => [name, text])),
    ...(map && { map: pairs("map", map) }),
    ...(defaults && { defaults: Object.fromEntries(Object.entries(pairs("default", defaults)).map(single)) }),
  });
}

function single([field, [text = "", ...more]]: readonly [string, readonly string[]]): readonly [string, string] {
  return more.length === 0 ? [field, text] : refuse(`The field ${field} has more than one default.`);
}

function pairs(name: string, texts: readonly string[]): Readonly<Record<string, readonly string[]>> {
  const found = new Map<string, string[]>();
  for (const text of texts) {
    const at = text.indexOf(":");
    if (at < 1)
      refuse(
        `The parameter ${name} is written ${name}=field:${name === "map" ? "column" : "value"}, but is ${JSON.stringify(text)}.`,
      );
    found.set(text.slice(0, at), [...(found.get(text.slice(0, at)) ?? []), text.slice(at + 1)]);
  }
  return Object.fromEntries(found);
}

function parseDelimiter(text: string): Delimiter {
  return (
    delimitersByName.get(text.toLowerCase()) ??
    refuse(`The delimiter must be a comma, a semicolon or a tab, but is ${JSON.stringify(text)}.`)
  );
}

function oneOf<Name extends string>(names: readonly Name[], label: string, text: string | undefined): Name | undefined {
  if (text === undefined) return undefined;
  const found = names.find((name) => name === text);
  return found ?? refuse(`${label} must be one of ${names.join(", ")}, but is ${JSON.stringify(text)}.`);
}

function fieldColumns(texts: NonNullable<FormatTexts["map"]>): FieldColumns {
  const [field] =
    Object.entries(texts).find(([name, columns]) => name !== "images" && [columns].flat().length > 1) ?? [];
  if (field !== undefined) refuse(`The field ${field} has more than one column. Only images may have several.`);
  return knownFields(texts);
}

function knownFields<Texts extends Readonly<Record<string, unknown>>>(texts: Texts): Texts {
  for (const name of Object.keys(texts)) {
    if (!productFieldNames.some((known) => known === name)) {
      refuse(`A product has no field ${JSON.stringify(name)}. Its fields are ${productFieldNames.join(", ")}.`);
    }
  }
  return texts;
}

function refuse(message: string): never {
  throw new AppError("BAD_REQUEST", message);
}
