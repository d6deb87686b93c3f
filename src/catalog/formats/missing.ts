import { type ProductInput, productFieldNames } from "../product.input.js";
import { columnsOf, columnsOfFields, lowerCase, type ProductFinisher } from "./finish.js";
import type { Layout } from "./layout.js";
import type { FormatOptions } from "./options.js";
import type { FormatReader } from "./reader.js";

/** Templates can always use the product's fields and its handle. */
const ownNames = new Set<string>([...productFieldNames, "handle"]);

export const onePerProductMessage = "One product for all variants can be made of Shopify's files only.";

/** Reports each missing column once, instead of for each row. */
export function reportMissing(
  reader: FormatReader,
  finisher: ProductFinisher,
  { needs, name, nameOf = lowerCase }: Layout,
  columns: ReadonlySet<string>,
  { map = {}, defaults = {}, urlTemplate, onePer }: FormatOptions,
): void {
  const mapped = columnsOfFields(map, nameOf);
  for (const [field, column] of mapped) {
    if (!columns.has(column)) reader.refuse(`There is no column '${map[field]}' for ${field} in this file.`, field);
  }
  for (const names of finisher.placeholders) {
    const isKnown = names.some((each) => columnsOf(each).some((column) => columns.has(column)) || ownNames.has(each));
    if (!isKnown) reader.refuse(`The URL template has {${names.join("|")}}, but this file has no such column.`, "url");
  }
  if (onePer === "product" && name !== "Shopify") {
    reader.refuse(onePerProductMessage);
  }
  for (const [field, known] of Object.entries(needs) as [keyof ProductInput, readonly string[]][]) {
    const isGiven =
      mapped.has(field) ||
      defaults[field] !== undefined ||
      known.some((column) => columns.has(column)) ||
      (field === "url" && urlTemplate !== undefined) ||
      (field === "featured_image" && mapped.has("images"));
    if (!isGiven) reader.refuse(missingColumn(field), field);
  }
}

function missingColumn(field: keyof ProductInput): string {
  const message = `There is no column for ${field} in this file.`;
  if (field === "url") {
    return `${message} Tell how URLs are made: --url-template 'https://shop.example/{sku}', or urlTemplate over REST.`;
  }
  if (field === "featured_image") return `${message} On the command line, use --default featured_image=URL.`;
  return `${message} On the command line, use --map ${field}=COLUMN or --default ${field}=VALUE.`;
}
