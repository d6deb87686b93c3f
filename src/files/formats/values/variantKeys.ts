import { productFields } from "../../product/product.fields.js";

/** In UTF-16 code units, at most two a character. Longer texts are refused anyway, so they are not copied for each variant. */
const unitsMax = { title: 2 * productFields.title.charactersMax, key: 2 * productFields.sku.charactersMax } as const;

export function titleWithOptions(title: string, values: readonly string[]): string {
  return title === "" || title.length > unitsMax.title || values.length === 0
    ? title
    : `${title} - ${values.join(" / ")}`;
}

/** The key of a variant without a SKU: the product's key and the values of its options. */
export function keyWithOptions(key: string, values: readonly string[]): string {
  if (key.length > unitsMax.key) return key;
  return [key, ...values].join("-").replaceAll(/\s+/gu, "-");
}

/** The handle that Shopify makes of a title. */
export function optionKey(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, "-")
    .replaceAll(/^-|-$/gu, "");
}
