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
