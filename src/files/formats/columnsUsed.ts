import { columnsOfFields } from "./completeProduct.js";
import { columnName, roleOf, type Role } from "./layout.js";
import type { FormatReadOptions, OpenFile } from "./fileState.js";
import { layoutOf } from "./rows/rowReaders.js";
import { type ProductInput, productFieldNames } from "../product/product.fields.js";

/** What the roles of columns decide, unless the role is a field's name. */
export const roleMeanings: Readonly<Partial<Record<Role, string>>> = {
  secondSku: "sku, if every row has its own",
  handle: "what rows of a product share",
  key: "names variants without a SKU",
  parent: "the parent's SKU or ID",
  configured: "SKUs of variants",
  grouped: "SKUs of products in it",
  kind: "the kind of row",
  view: "rows that are left out",
  visibility: "whether it may take missing values from its parent",
  command: "what to do with the product",
  variantCommand: "what to do with the variant",
  surcharge: "added to the product's price",
  salePrice: "price of a sale",
  onSale: "whether it is on sale",
  saleStart: "begin of the sale",
  saleEnd: "end of the sale",
  saleDates: "begin and end of the sale",
  discountMode: "how the discount counts",
  discount: "discount",
  discountPercent: "discount in percent",
  published: "available: is it published?",
  inStock: "available: is it in stock?",
  stock: "available: its stock",
  tracker: "available: does stock count?",
  policy: "available: is it sold without stock?",
  image: "images",
  moreImages: "further images",
  variantImage: "featured_image of a variant",
  position: "order of images",
  option: "values of options",
  ignored: "known, but not needed",
};

/** The field that columns of a role decide about. */
export const fieldsOfRoles: Readonly<Partial<Record<Role, keyof ProductInput>>> = {
  id: "id",
  sku: "sku",
  secondSku: "sku",
  title: "title",
  option: "title",
  description: "description",
  price: "price",
  surcharge: "price",
  salePrice: "price",
  onSale: "price",
  saleStart: "price",
  saleEnd: "price",
  saleDates: "price",
  discountMode: "price",
  discount: "price",
  discountPercent: "price",
  published: "available",
  inStock: "available",
  stock: "available",
  tracker: "available",
  policy: "available",
  image: "images",
  moreImages: "images",
  variantImage: "featured_image",
  url: "url",
};

/** What each column of a file is used for, without unused ones. */
export function columnsUsed(file: OpenFile, { map, fillDown }: FormatReadOptions): Record<string, string> {
  const used = file.found.header.map((cell) => [cell.trim(), useOf(cell, { file, map, fillDown })] as const);
  return Object.fromEntries(used.filter((entry): entry is readonly [string, string] => entry[1] !== undefined));
}

/** What a column is used for; undefined if it is not. */
export function useOf(
  column: string,
  { file, map, fillDown }: Pick<FormatReadOptions, "map" | "fillDown"> & { readonly file: Pick<OpenFile, "found"> },
): string | undefined {
  const name = columnName(column);
  if (name === "") return undefined;
  const fields = [...columnsOfFields(map)].filter(([, columns]) => columns.includes(name)).map(([field]) => field);
  if (fields.length > 0) return fields.join(", ");
  if (fillDown !== undefined && name === columnName(fillDown)) return "rows that share it";
  const own =
    file.found.format === "vitrine" ? productFieldNames.find((field) => columnName(field) === name) : undefined;
  const role = roleOf(layoutOf(file), name);
  return own ?? (role === undefined ? undefined : (roleMeanings[role] ?? role));
}
