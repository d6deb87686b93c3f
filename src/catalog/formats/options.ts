import { AppError } from "../../errors.js";
import { type Delimiter } from "../csv/cells.js";
import { type ProductInput, productFieldNames } from "../product.input.js";
import { isEncoding } from "./decode.js";
import { compileTemplate } from "./values/template.js";

/** `auto` recognizes the layout by its columns. */
export const formatNames = ["auto", "vitrine", "shopify", "woocommerce", "magento", "google"] as const;
export type FormatName = (typeof formatNames)[number];

export type FieldTexts = Readonly<Partial<Record<keyof ProductInput, string>>>;

/** Plain data, which can be sent to a thread. */
export interface FormatOptions {
  /** `auto` by default. */
  readonly format?: FormatName | undefined;
  /** Columns of fields that differ from the format's. */
  readonly map?: FieldTexts | undefined;
  /** Values for rows that have none. */
  readonly defaults?: FieldTexts | undefined;
  /** Such as `https://shop.example/products/{handle}`. */
  readonly urlTemplate?: string | undefined;
  /** Found by itself where it is not given. */
  readonly delimiter?: Delimiter | undefined;
  /** UTF-8 or as the byte order mark says, by default. */
  readonly encoding?: string | undefined;
  /** Variants are products of their own, by default, or make one with a range of prices. */
  readonly onePer?: "variant" | "product" | undefined;
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
  readonly map?: Readonly<Record<string, string>> | undefined;
  readonly defaults?: Readonly<Record<string, string>> | undefined;
  readonly urlTemplate?: string | undefined;
  readonly delimiter?: string | undefined;
  readonly encoding?: string | undefined;
  readonly onePer?: string | undefined;
}

/** @throws {AppError} BAD_REQUEST that names the option */
export function parseFormatOptions(texts: FormatTexts): FormatOptions {
  const { format, map, defaults, urlTemplate, delimiter, encoding, onePer } = texts;
  if (urlTemplate !== undefined) compileTemplate(urlTemplate);
  if (encoding !== undefined && !isEncoding(encoding)) refuse(`The encoding ${JSON.stringify(encoding)} is not known.`);
  return {
    format: oneOf(formatNames, "The format", format?.toLowerCase()),
    map: map && fieldTexts(map),
    defaults: defaults && fieldTexts(defaults),
    urlTemplate,
    delimiter: delimiter === undefined ? undefined : parseDelimiter(delimiter),
    encoding,
    onePer: oneOf(["variant", "product"] as const, "One product per", onePer?.toLowerCase()),
  };
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

function fieldTexts(texts: Readonly<Record<string, string>>): FieldTexts {
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
