/** The title of a variant: that of its product and the values of its options. */
export function titleWithOptions(title: string, values: readonly string[]): string {
  return title === "" || values.length === 0 ? title : `${title} - ${values.join(" / ")}`;
}

/** The key of a variant without a SKU: that of its product and the values of its options. */
export function keyWithOptions(key: string, values: readonly string[]): string {
  return [key, ...values].join("-").replaceAll(/\s+/gu, "-");
}
