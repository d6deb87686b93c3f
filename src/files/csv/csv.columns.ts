import type { Path, Problem, Problems } from "../../errors.js";
import { clip, parseFlatJson } from "../../lib/text.js";
import { shownValue } from "../../lib/mustBe.js";
import { type Delimiter, delimiters } from "./records.js";
import {
  type FieldKind,
  type FieldName,
  mapFields,
  productFieldNames,
  productFields,
} from "../product/product.fields.js";

export const delimiterNames: Readonly<Record<Delimiter, string>> = {
  ",": "a comma",
  ";": "a semicolon",
  "\t": "a tab",
};

/** The one by which a header names the most columns; a comma if tied. */
export function delimiterOf(header: string): Delimiter {
  let [best, most]: [Delimiter, number] = [",", 0];
  for (const delimiter of delimiters) {
    const columns = new Set(header.split(delimiter).map((cell) => columnOf(cell.replaceAll('"', ""))));
    columns.delete(undefined);
    if (columns.size > most) [best, most] = [delimiter, columns.size];
  }
  return best;
}

/** Far more than there are: a header with a million would be a million problems. */
const columnsMax = 1_000;

interface HeaderPlace {
  readonly path: Path;
  readonly line: number;
  readonly delimiter: Delimiter;
  readonly isPatch: boolean;
  readonly isCommand: boolean;
}

/** Names may be in letters of any case. */
export function headerColumns(cells: readonly string[], place: HeaderPlace, problems: Problems): readonly FieldName[] {
  const columns: FieldName[] = [];
  const problem = (code: Problem["code"], name: string, message: string | (() => string)): void =>
    problems.addLazily(() => ({
      code,
      message: typeof message === "string" ? message : message(),
      path: [...place.path, name],
      line: place.line,
    }));

  if (cells.length > columnsMax) {
    const message = `The header has ${cells.length} columns, but may have at most ${columnsMax}.`;
    problems.add({ code: "TOO_LONG", message, path: place.path, line: place.line });
    return columns;
  }
  if (isOfOthers(cells)) {
    const message = unknownHeader(cells, place.isCommand);
    problems.add({ code: "UNKNOWN_FIELD", message, path: place.path, line: place.line });
    return columns;
  }
  cells.forEach((cell, index) => {
    const sent = cell.trim();
    const name = columnOf(sent);
    if (sent === "") problem("UNKNOWN_FIELD", "", `Column ${index + 1} has no name.`);
    else if (name === undefined) problem("UNKNOWN_FIELD", clip(sent), () => unknownColumn(sent, place.delimiter));
    else if (columns.includes(name)) problem("DUPLICATE", name, `The column ${name} appears more than once.`);
    else columns.push(name);
  });
  if (place.isPatch) {
    if (!columns.includes("id") && !columns.includes("sku"))
      problem("REQUIRED", "id", "The column id or sku is required.");
    return columns;
  }
  for (const name of productFieldNames) {
    if (productFields[name].required && !columns.includes(name)) {
      problem("REQUIRED", name, `The column ${name} is required.`);
    }
  }
  return columns;
}

/** Fewer of the names are Vitrine's own than not, or none is, by whatever delimiter: one problem says more than one for each. */
function isOfOthers(cells: readonly string[]): boolean {
  const own = new Set(cells.map(columnOf));
  own.delete(undefined);
  if (cells.length >= 4) return own.size * 2 < cells.length && own.size < 4;
  const names = cells.flatMap((cell) => cell.split(/[,;\t]/u)).filter((name) => name.trim() !== "");
  return names.length > 0 && names.every((name) => columnOf(name) === undefined);
}

/** One line for a file whose columns are not known. */
export function unknownHeader(cells: readonly string[], isCommand: boolean): string {
  const map = isCommand
    ? "--map id=COLUMN --map title=COLUMN …"
    : "a body of text/csv and map=id:COLUMN&map=title:COLUMN…";
  const fault =
    cells.length === 1
      ? `A product has no column ${shownValue(cells[0])}.`
      : "Most columns of this header are neither Vitrine's own nor those of a system that is known.";
  return `${fault} Say which column a field is in, with ${map} (docs/formats.md).`;
}

function columnOf(cell: string): FieldName | undefined {
  const name = cell.trim().toLowerCase();
  return productFieldNames.find((known) => known === name);
}

/** Says how the header was read if a name looks like several. */
function unknownColumn(name: string, delimiter: Delimiter): string {
  const message = `A product has no column ${shownValue(name)}.`;
  if (!/[,;\t|]/u.test(name)) return message;
  return `${message} Columns are separated by a comma, a semicolon or a tab; this header was read with ${delimiterNames[delimiter]}.`;
}

type Parse = (cell: string) => unknown;

/** JSON's grammar of numbers (RFC 8259 §6): no leading zeros or plus sign, no Infinity. */
const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/u;

const parsers: Readonly<Record<FieldKind, Parse>> = { text, url: text, urls, price: number, flag };

/** An empty cell becomes null; one of a wrong type stays a string, which `checkProduct` reports. */
export const cellParsers = mapFields(({ kind }) => parsers[kind]);

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

function urls(cell: string): unknown {
  if (cell === "") return null;
  if (!cell.startsWith("[")) return [cell];
  try {
    return parseFlatJson(cell);
  } catch {
    return cell;
  }
}
