import type { ProductInput } from "./product.input.js";

type Parse = (cell: string) => unknown;

/** JSON's grammar of numbers: no leading zeros or plus sign, no hexadecimals, no Infinity. */
const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/u;

/**
 * How the cells of each column become values. An empty cell becomes null; a cell that is not of its column's type stays
 * the string it is, which `checkProduct` then names as a problem.
 */
export const cellParsers: { readonly [F in keyof ProductInput]-?: Parse } = {
  id: text,
  sku: text,
  title: text,
  description: text,
  price: number,
  price_min: number,
  price_max: number,
  available: flag,
  images,
  featured_image: text,
  url: text,
};

function text(cell: string): string | null {
  return cell === "" ? null : cell;
}

function number(cell: string): number | string | null {
  const trimmed = cell.trim();
  if (trimmed === "") return null;
  return jsonNumber.test(trimmed) ? Number(trimmed) : cell;
}

function flag(cell: string): boolean | string | null {
  const word = cell.trim().toLowerCase();
  if (word === "") return null;
  return word === "true" ? true : word === "false" ? false : cell;
}

/** One URL, or a JSON array of URLs. */
function images(cell: string): unknown {
  const trimmed = cell.trim();
  if (trimmed === "") return null;
  if (!trimmed.startsWith("[")) return [trimmed];
  try {
    return JSON.parse(trimmed) as unknown;
  } catch {
    return cell;
  }
}
