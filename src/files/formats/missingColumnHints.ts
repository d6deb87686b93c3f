import { type ProductInput, productFieldNames } from "../product/product.fields.js";
import { unknownHeader } from "../csv/csv.columns.js";
import { columnsOfFields, type ProductFinisher } from "./completeProduct.js";
import { columnName, isNamed, type Layout, namesIn, type Role } from "./layout.js";
import type { FormatOptions } from "./options.js";
import type { FormatReader } from "./formatReader.js";
import { isRefused } from "./recognize.js";

type Field = keyof ProductInput;

/** Templates can always use the product's fields and its handle. */
const ownNames = new Set<string>([...productFieldNames.map(columnName), "handle"]);

export const onePerProductMessage =
  "One product for all variants needs a file with its variants in adjacent rows, such as Shopify's.";

/** A file of another system needs a column of one of these roles for a field. */
const rolesOfFields: Readonly<Partial<Record<Field, readonly Role[]>>> = {
  id: ["id", "sku", "handle", "key"],
  title: ["title"],
  price: ["price"],
  available: ["inStock", "stock"],
  featured_image: ["image", "moreImages", "variantImage"],
  url: ["url"],
};
const ownFields: readonly Field[] = ["id", "sku", "title", "available", "featured_image", "url"];

interface Reading {
  readonly layout: Layout;
  readonly finisher: ProductFinisher;
  /** The names of columns. */
  readonly header: readonly string[];
  readonly options: FormatOptions & { readonly isPatch?: boolean };
}

/** Reports each missing column once, and not for each row. @returns whether the columns are of no known system */
export function reportMissing(reader: FormatReader, { layout, finisher, header, options }: Reading): boolean {
  if (isRefused(layout, header)) {
    reader.refuse(withoutPrices(layout));
    return false;
  }
  const { map = {}, onePer, isPatch = false, isCommand = false } = options;
  const mapped = columnsOfFields(map);
  const isThere = ({ names }: Need) => names.some((name) => header.some((each) => isNamed(each, name)));
  const needed = isPatch ? [] : neededBy(layout);
  if (!isPatch && isUnknown(needed.filter(isThere), map)) {
    reader.refuse(unknownHeader(header, isCommand));
    return true;
  }
  reportMapped(reader, mapped, { header, map });
  reportOptions(reader, { finisher, header, options });
  if (onePer === "product" && layout.rows !== "adjacent") reader.refuse(onePerProductMessage);
  if (isPatch) requireKey(reader, [...mapped.keys(), ...header]);
  const missing = needed.filter((need) => !isGiven(need.field, { map, options }) && !isThere(need));
  for (const { field, names } of missing) reader.refuse(missingColumn(field, { names, layout, isCommand }), field);
  return false;
}

function isUnknown(known: readonly Need[], map: object): boolean {
  return known.length < 2 && Object.keys(map).length === 0;
}

function withoutPrices({ label, refused }: Layout): string {
  const name = `${label}'s ${refused?.name ?? ""}`;
  return `This is ${name}, which has no prices and would erase the stored ones. Import the export of products instead.`;
}

/** Reports missing columns of `map`. */
function reportMapped(
  reader: FormatReader,
  mapped: ReturnType<typeof columnsOfFields>,
  { header, map }: Pick<Reading, "header"> & { readonly map: NonNullable<FormatOptions["map"]> },
): void {
  for (const [field, columns] of mapped) {
    const absent = [map[field] ?? []].flat().filter((_, at) => !header.includes(columns[at] ?? ""));
    for (const column of absent) reader.refuse(`There is no column '${column}' for ${field} in this file.`, field);
    const isTwice =
      field !== "images" && columns.some((column) => header.indexOf(column) !== header.lastIndexOf(column));
    if (isTwice)
      reader.refuse(`The column for ${field} appears more than once in this file. Rename all but one.`, field);
  }
}

/** Reports missing columns of the URL template and of `fillDown`. */
function reportOptions(
  reader: FormatReader,
  { finisher, header, options: { fillDown } }: Omit<Reading, "layout">,
): void {
  for (const { text, names } of finisher.placeholders) {
    const isThere = names.some((each) => header.includes(each) || ownNames.has(each));
    if (!isThere) reader.refuse(`The URL template has {${text}}, but this file has no such column.`, "url");
  }
  if (fillDown !== undefined && !header.includes(columnName(fillDown))) {
    reader.refuse(`There is no column '${fillDown}' to fill down in this file.`);
  }
}

function requireKey(reader: FormatReader, names: readonly string[]): void {
  if (!names.includes("id") && !names.includes("sku")) reader.refuse("The column id or sku is required.", "id");
}

function isGiven(field: Field, { map, options }: { readonly map: object; readonly options: FormatOptions }): boolean {
  return (
    Object.hasOwn(map, field) ||
    options.defaults?.[field] !== undefined ||
    (field === "url" && options.urlTemplate !== undefined) ||
    (field === "featured_image" && Object.hasOwn(map, "images"))
  );
}

interface Need {
  readonly field: Field;
  readonly names: readonly string[];
}

function neededBy(layout: Layout): readonly Need[] {
  if (layout.label === "Vitrine") {
    return ownFields.map((field) => ({
      field,
      names: [field, ...(field === "featured_image" ? ["images"] : [])].map(columnName),
    }));
  }
  const entries = Object.entries(rolesOfFields) as [Field, readonly Role[]][];
  const needed = entries.filter(([field]) => field !== "available" || layout.needsStock === true);
  return needed
    .filter(([field]) => field !== "id" || layout.keyOfTitle !== true)
    .map(([field, roles]) => ({
      field,
      names: roles.flatMap((role) => namesIn(layout.columns[role] ?? "")).filter((name) => name !== ""),
    }));
}

interface Lack {
  readonly names: readonly string[];
  readonly layout: Layout;
  readonly isCommand: boolean;
}

/** Following the advice never makes a product cheaper or erases its price. */
function missingColumn(field: Field, { names, layout, isCommand }: Lack): string {
  const isOwn = layout.label === "Vitrine";
  const known = isOwn || names.length === 0 ? "" : `, such as '${names[0] ?? ""}'`;
  const message = `There is no column for ${field} in this file${isOwn ? "" : ` of ${layout.label}`}${known}.`;
  if (field === "url") {
    const template = "https://shop.example/{sku}";
    return `${message} Give a template for URLs: ${isCommand ? `--url-template '${template}'` : `urlTemplate=${template}`}.`;
  }
  if (field === "price")
    return `${message} Without it, stored prices would be erased: export products with their prices.`;
  return `${message} Use ${optionsFor(field, isOwn, isCommand)}.`;
}

/** The options that give a field its values. */
function optionsFor(field: Field, isOwn: boolean, isCommand: boolean): string {
  const [map, given] = isCommand
    ? [`--map ${field}=COLUMN`, `--default ${field}=`]
    : [`map=${field}:COLUMN`, `default=${field}:`];
  if (field === "featured_image") return `${map}, or ${given}URL`;
  return isOwn && (field === "id" || field === "sku") ? map : `${map} or ${given}VALUE`;
}
