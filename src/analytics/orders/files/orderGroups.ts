import type { FileHandle } from "node:fs/promises";
import { shownValue } from "../../../lib/mustBe.js";
import type { OrderColumn } from "./orderColumns.js";
import { faultAt } from "./orderLines.js";
import { type OrderRowOfFile, rowsOf } from "./orderRows.js";

/** The rows of one order, which stand together: only the first needs what concerns all of it. */
export interface OrderGroup {
  readonly id: string;
  /** The number or the name that customers see; empty where the file has none. */
  readonly name: string;
  readonly first: OrderRowOfFile;
  readonly rows: readonly OrderRowOfFile[];
  /** Whether the file has no ids, so that a number or a name stands for one. */
  readonly isByNumber: boolean;
}

const rowsMax = 500;

export async function* groupsOf(handle: FileHandle): AsyncGenerator<OrderGroup, void> {
  let current: (OrderGroup & { readonly rows: OrderRowOfFile[] }) | undefined;
  for await (const row of rowsOf(handle)) {
    const { id, name } = namesOf(row);
    if (current !== undefined && (id === "" ? name !== "" && name === current.name : id === current.id)) {
      requireSame(current, row, name);
      if (current.rows.push(row) > rowsMax) throw faultAt(row.line, `An order has at most ${rowsMax} rows.`);
      continue;
    }
    if (current !== undefined) yield current;
    if (id === "") throw faultAt(row.line, "The row has no id, and does not belong to the order above it.");
    current = { id, name, first: row, rows: [row], isByNumber: row.columns.at.id === undefined };
  }
  if (current !== undefined) yield current;
}

function namesOf({ cells, columns, line }: OrderRowOfFile): { readonly id: string; readonly name: string } {
  const name = cells.number ?? "";
  const id = columns.at.id === undefined ? name : (cells.id ?? "").replace(/^'/u, "");
  if (isOfSpreadsheet(id)) {
    const message = `${shownValue(id)} is an id that a spreadsheet has changed: export the orders again, and do not save them with it.`;
    throw faultAt(line, message);
  }
  return { id, name };
}

/** `5.12E+12`, `5123456789012.0`, `5,123,456`: a number as a spreadsheet shows it. */
function isOfSpreadsheet(id: string): boolean {
  return /^\d(?:[.,]\d+)?E\+\d+$/iu.test(id) || /^\d(?:[.,]\d+)E\d+$/iu.test(id) || /^\d+[.,][\d.,]*$/u.test(id);
}

const ofOrder = ["amount", "refunded", "currency", "status", "placedAt", "cancelledAt"] as const;

/** Rows of an order repeat what the first one says of it, or say nothing. */
function requireSame({ id, name, first }: OrderGroup, { cells, columns, line }: OrderRowOfFile, other: string): void {
  if (name !== "" && other !== "" && name !== other) throw twoNames(line, id, [name, other]);
  const column = ofOrder.find(
    (key) => cells[key] !== undefined && cells[key] !== "" && cells[key] !== first.cells[key],
  );
  if (column === undefined) return;
  const values = `${shownValue(cells[column] ?? "")}, and on line ${first.line} ${shownValue(first.cells[column] ?? "")}`;
  throw faultAt(
    line,
    `${columnName(column, columns.names)} of order ${shownValue(id)} is ${values}: it must be of the whole order.`,
  );
}

function columnName(column: OrderColumn, names: OrderRowOfFile["columns"]["names"]): string {
  return names[column] ?? column;
}

function twoNames(line: number, id: string, names: readonly [string, string]) {
  const [one, other] = names.map(shownValue);
  return faultAt(
    line,
    `The id ${shownValue(id)} stands on two orders, ${one} and ${other}: a spreadsheet may have rounded it. Export the orders again.`,
  );
}

const groupsMax = 10_000;

/** Refuses an id that comes again among the last 10,000 orders: with another name, or apart from its first rows. */
export class RecentIds {
  readonly #names = new Map<string, string>();

  add({ id, name, first: { line } }: OrderGroup): void {
    const before = this.#names.get(id);
    if (before !== undefined && before !== name) throw twoNames(line, id, [before, name]);
    if (before !== undefined) {
      throw faultAt(line, `The rows of order ${shownValue(id)} do not stand together: sort the file by order.`);
    }
    this.#names.set(id, name);
    const [oldest] = this.#names.keys();
    if (this.#names.size > groupsMax && oldest !== undefined) this.#names.delete(oldest);
  }
}
