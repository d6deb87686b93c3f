import { productFieldNames } from "../../../src/files/product/product.fields.js";
import type { Sent } from "../products.js";

/** Products as CSV text, with all columns unless others are given: one image as it is, several as a JSON array. */
export function toCsv(products: readonly Sent[], columns: readonly string[] = productFieldNames): string {
  return [columns, ...products.map((product) => columns.map((name) => cell(product[name])))]
    .map((cells) => `${cells.join(",")}\n`)
    .join("");
}

function cell(value: unknown): string {
  if (value === undefined || value === null) return "";
  const text = Array.isArray(value) ? imagesCell(value) : `${value as string | number | boolean}`;
  return /[",\r\n]|^\s|\s$/u.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function imagesCell(images: readonly unknown[]): string {
  return images.length === 1 ? String(images[0]) : images.length === 0 ? "" : JSON.stringify(images);
}
