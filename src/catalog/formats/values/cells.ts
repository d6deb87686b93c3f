import { parseFlatJson } from "../../../lib/json/flat.js";
import { charactersMax, imagesMax } from "../../product.rules.js";

/** Between URLs in a cell: a comma, a bar or a line break; a comma within a URL does not separate. */
const separators = /[|\n]|,(?=\s|(?:https?:)?\/\/)/u;

/** A cell with more UTF-16 code units than all images of a product may have; it is refused as one URL that is too long. */
const cellUnitsMax = imagesMax * 2 * (charactersMax.url + 10);

export function splitUrls(text: string, separator: RegExp = separators): string[] {
  if (text.length > cellUnitsMax) return [text];
  if (text.startsWith("[")) return jsonTexts(text) ?? [text];
  return text
    .split(separator)
    .map((url) => url.trim())
    .filter((url) => url !== "");
}

function jsonTexts(text: string): string[] | undefined {
  try {
    const list = parseFlatJson(text);
    return Array.isArray(list) && list.every((item) => typeof item === "string") ? list : undefined;
  } catch {
    return undefined;
  }
}

const yes = ["true", "1", "yes", "y", "in stock", "in_stock", "instock", "available", "active", "enabled"];
const orderable = [
  "preorder",
  "backorder",
  "onbackorder",
  "available for order",
  "available_for_order",
  "limited availability",
];
const no = [
  "false",
  "0",
  "no",
  "n",
  "out of stock",
  "out_of_stock",
  "outofstock",
  "unavailable",
  "inactive",
  "disabled",
];
const ends = ["sold out", "soldout", "discontinued", "draft", "archived"];

const flags = new Map<string, boolean>([
  ...[...yes, ...orderable].map((word) => [word, true] as const),
  ...[...no, ...ends].map((word) => [word, false] as const),
]);

/** Availability from a word or a number in stock; null if there is none, the text if it is neither. */
export function parseFlag(text: string): boolean | string | null {
  if (text === "") return null;
  return flags.get(text.toLowerCase()) ?? stockOf(text) ?? text;
}

function stockOf(text: string): boolean | undefined {
  return /^-?\d+(?:[.,]\d+)?$/u.test(text) ? Number(text.replace(",", ".")) > 0 : undefined;
}

const dayMs = 24 * 60 * 60_000;

/** Either date may be missing. An end without a time includes its day. */
export function isWithin(time: number, from: string, to: string): boolean {
  const start = Date.parse(from);
  const end = Date.parse(to) + (/^\d{4}-\d\d-\d\d$/u.test(to) ? dayMs : 0);
  return !(time < start) && !(time > end); // a missing or unreadable date is NaN, and limits nothing
}
