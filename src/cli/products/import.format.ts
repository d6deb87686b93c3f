import { readFile, writeFile } from "node:fs/promises";
import { type Command, InvalidArgumentError, Option } from "commander";
import { formatNames, type FormatOptions, type FormatTexts, parseFormatOptions } from "../../files/formats/options.js";
import type { CsvResult } from "../../files/csv/csv.js";
import { AppError } from "../../errors.js";
import { isObject } from "../../lib/json/parseJson.js";

export interface FileFormatOptions {
  readonly format?: string;
  readonly map?: Record<string, string | readonly string[]>;
  readonly default?: Record<string, string>;
  readonly urlTemplate?: string;
  readonly delimiter?: string;
  readonly encoding?: string;
  readonly onePer?: string;
  readonly fillDown?: string;
  readonly mapping?: string;
  readonly saveMapping?: string;
}

type Texts = Record<string, string>;

export function addFormatOptions(command: Command): Command {
  return command
    .addOption(
      new Option("--format <format>", "the system that wrote the file (default: recognized by its columns)").choices(
        formatNames,
      ),
    )
    .option("--map <field=column>", "take a field from this column; may be repeated", collectColumns)
    .option(
      "--default <field=value>",
      "the value of a field for rows that have none; may be repeated",
      collect("field=value"),
    )
    .option("--url-template <url>", "builds product URLs, such as 'https://shop.example/products/{handle}'")
    .option("--one-per <what>", "variant, or product with price_min and price_max (Shopify)")
    .option(
      "--fill-down <column>",
      "rows with the same value in this column inherit empty cells from the first of them",
    )
    .option("--delimiter <delimiter>", "comma, semicolon or tab (default: as in the header)")
    .option("--encoding <name>", "such as windows-1252 (default: by the byte order mark, or UTF-8)")
    .option("--mapping <file>", "read these options from a file; options on the command line override them")
    .option("--save-mapping <file>", "write these options to a file");
}

function collect(form: string) {
  return (text: string, previous: Texts = {}): Texts => {
    const at = text.indexOf("=");
    if (at < 1) throw new InvalidArgumentError(`Must be ${form}.`);
    return { ...previous, [text.slice(0, at)]: text.slice(at + 1) };
  };
}

/** Given several times, a field is read from several columns. */
function collectColumns(text: string, previous: NonNullable<FileFormatOptions["map"]> = {}) {
  const [field = "", column = ""] = Object.entries(collect("field=column")(text))[0] ?? [];
  const before = previous[field];
  return { ...previous, [field]: before === undefined ? column : [before, column].flat() };
}

/** Adds the options of `--mapping`, and writes `--save-mapping`. @throws {AppError} BAD_REQUEST for invalid options */
export async function readFormatOptions(options: FileFormatOptions): Promise<FormatOptions> {
  const given = {
    format: options.format,
    map: options.map,
    defaults: options.default,
    urlTemplate: options.urlTemplate,
    delimiter: options.delimiter,
    encoding: options.encoding,
    onePer: options.onePer,
    fillDown: options.fillDown,
  };
  const texts = options.mapping === undefined ? given : merged(await readMapping(options.mapping), given);
  const parsed = parseFormatOptions(texts);
  if (options.saveMapping !== undefined) {
    await writeFile(options.saveMapping, `${JSON.stringify(texts, undefined, 2)}\n`);
  }
  return { ...parsed, isCommand: true };
}

function merged(saved: FormatTexts, given: FormatTexts): FormatTexts {
  const set = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const [map, defaults] = [join(saved.map, given.map), join(saved.defaults, given.defaults)];
  return { ...saved, ...set, ...(map && { map }), ...(defaults && { defaults }) };
}

function join<Value>(
  saved: Readonly<Record<string, Value>> | undefined,
  given: Readonly<Record<string, Value>> | undefined,
): Readonly<Record<string, Value>> | undefined {
  return saved === undefined && given === undefined ? undefined : { ...saved, ...given };
}

async function readMapping(file: string): Promise<FormatTexts> {
  const text = await readFile(file, "utf8");
  try {
    return checkMapping(JSON.parse(text));
  } catch {
    throw new AppError("BAD_REQUEST", `${file} is not a mapping that --save-mapping wrote.`);
  }
}

/** @throws {TypeError} if it is not a mapping */
function checkMapping(value: unknown): FormatTexts {
  if (!isObject(value)) throw new TypeError();
  for (const [name, entry] of Object.entries(value)) {
    const isTexts = ["map", "defaults"].includes(name)
      ? isObject(entry) &&
        Object.values(entry)
          .flat()
          .every((text) => typeof text === "string")
      : ["format", "urlTemplate", "delimiter", "encoding", "onePer", "fillDown"].includes(name) &&
        typeof entry === "string";
    if (!isTexts) throw new TypeError();
  }
  return value;
}

export function readingReport(read: CsvResult | undefined, dryRun: boolean): object {
  const { format = "vitrine", notes = [], skipped = 0, columns, preview = [] } = read ?? {};
  return {
    ...(format !== "vitrine" && { format }),
    ...(notes.length > 0 && { notes }),
    ...(skipped > 0 && { skipped }),
    ...(dryRun && columns !== undefined && { columns }),
    ...(dryRun && { products: preview }),
  };
}

/** What was recognized, and the first products. */
export function describePreview({ format = "vitrine", columns, preview = [] }: CsvResult): string[] {
  const used = Object.entries(columns ?? {}).map(([column, use]) => `  ${column} → ${use}`);
  const recognized = used.length === 0 ? [] : [`The file is read as ${format}, with these columns:`, ...used];
  return [...recognized, ...describeProducts(preview)];
}

function describeProducts(preview: NonNullable<CsvResult["preview"]>): string[] {
  if (preview.length === 0) return [];
  const first = preview.length === 1 ? "product" : `${preview.length} products`;
  const products = preview.flatMap((product) => JSON.stringify(product, undefined, 2).split("\n"));
  return [`The first ${first} would be stored as:`, ...products];
}

export function describeNotes({ notes = [] }: CsvResult): string[] {
  return notes.map((note) => `  ${note}`);
}

const csvOptions = "format map default urlTemplate delimiter encoding onePer fillDown mapping saveMapping".split(" ");

/** @throws {AppError} BAD_REQUEST for options that only CSV files have */
export function requireNoCsvOptions(options: FileFormatOptions): void {
  const given = Object.entries(options).filter(([name, value]) => csvOptions.includes(name) && value !== undefined);
  if (given.every(([, value]) => value === "auto" || value === "vitrine")) return;
  const message = "Options about formats do not apply to NDJSON, which is UTF-8 and has Vitrine's own fields.";
  throw new AppError("BAD_REQUEST", message);
}
