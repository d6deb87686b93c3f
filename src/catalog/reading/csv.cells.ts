import type { ProductInput } from "../product.input.js";

type Parse = (cell: string) => unknown;

/** JSON's grammar of numbers: no leading zeros or plus sign, no hexadecimals, no Infinity. */
const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/u;

/**
 * How the cells of each column become values; white space around those that are not quoted is gone already. An empty cell becomes null; a cell that is not of its column's type stays
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
  if (cell === "") return null;
  return jsonNumber.test(cell) ? Number(cell) : cell;
}

function flag(cell: string): boolean | string | null {
  if (cell === "") return null;
  const word = cell.toLowerCase();
  return word === "true" ? true : word === "false" ? false : cell;
}

/** One URL, or a JSON array of URLs. */
function images(cell: string): unknown {
  if (cell === "") return null;
  if (!cell.startsWith("[")) return [cell];
  try {
    return JSON.parse(cell) as unknown;
  } catch {
    return cell;
  }
}
