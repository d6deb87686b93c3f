import type { Path, Problem } from "../../errors.js";
import { clip } from "../../lib/text.js";
import { type ProductInput, productFieldNames, productFields } from "../product.input.js";

type ColumnName = keyof ProductInput;

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

/** JSON's grammar of numbers (RFC 8259 §6): no leading zeros or plus sign, no Infinity. */
const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/u;

/**
 * Parsers of cells. An empty cell becomes null; one that is not of its type stays a string, which `checkProduct`
 * reports.
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

function images(cell: string): unknown {
  if (cell === "") return null;
  if (!cell.startsWith("[")) return [cell];
  try {
    return JSON.parse(cell) as unknown;
  } catch {
    return cell;
  }
}
