export function titleWithOptions(title: string, values: readonly string[]): string {
  return title === "" || values.length === 0 ? title : `${title} - ${values.join(" / ")}`;
}

/** The key of a variant without a SKU: the product's key and the values of its options. */
export function keyWithOptions(key: string, values: readonly string[]): string {
  return [key, ...values].join("-").replaceAll(/\s+/gu, "-");
}
