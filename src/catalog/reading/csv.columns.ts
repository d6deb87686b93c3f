import type { Path, Problem } from "../../errors.js";
import { clip } from "../../lib/text.js";
import { type ProductInput, productFieldNames, productFields } from "../product.input.js";

type ColumnName = keyof ProductInput;

/** The columns named by the header's cells, in their order; every problem with them is reported. */
export function headerColumns(
  cells: readonly string[],
  place: { readonly path: Path; readonly line: number },
  report: (problem: Problem) => void,
): readonly ColumnName[] {
  const columns: ColumnName[] = [];
  const problem = (code: Problem["code"], name: string, message: string): void =>
    report({ code, message, path: [...place.path, name], line: place.line });

  cells.forEach((cell, index) => {
    const name = cell.trim();
    if (name === "") problem("UNKNOWN_FIELD", "", `Column ${index + 1} has no name.`);
    else if (!isColumn(name)) problem("UNKNOWN_FIELD", clip(name), `A product has no column "${clip(name)}".`);
    else if (columns.includes(name)) problem("DUPLICATE", name, `The column ${name} is there more than once.`);
    else columns.push(name);
  });
  for (const name of productFieldNames) {
    if (productFields[name].required && !columns.includes(name)) {
      problem("REQUIRED", name, `The column ${name} is required.`);
    }
  }
  return columns;
}

function isColumn(name: string): name is ColumnName {
  return Object.hasOwn(productFields, name);
}

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
