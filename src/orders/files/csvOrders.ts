import type { FileHandle } from "node:fs/promises";
import { currencyDecimals } from "../../stores/store.currency.js";
import { mustBe, shownValue } from "../../lib/mustBe.js";
import { canBeKey } from "../../lib/text.js";
import type { Note } from "../hooks/delivery.js";
import { isViewerName, viewerIdOf } from "../hooks/payload.js";
import { isName, type OrderInput, type OrderLineInput } from "../state/order.rules.js";
import { exact, toUnits } from "../../lib/money.js";
import { ColumnMarks, readAmount } from "./cells/amount.js";
import type { FileOrder } from "./readOrder.js";
import { faultAt } from "./orderLines.js";
import { type OrderRowOfFile, rowsOf } from "./orderRows.js";
import { type OrderStatus, statusOf } from "./cells/status.js";
import { parseDateTime } from "../../lib/dateTime.js";
import { momentReader } from "../../lib/timeZone.js";
import type { OrderColumn } from "./orderColumns.js";

/** Settings of the store that decide how cells are read. */
export interface FileSettings {
  readonly currency: string | null;
  readonly timeZone: string;
}

export interface CsvOrders {
  readonly isByNumber: boolean;
  read(): AsyncGenerator<FileOrder, void>;
}

const amountColumns = ["amount", "refunded", "price"] as const;
type AmountColumn = (typeof amountColumns)[number];

/**
 * Reads an export of Shopify or WooCommerce once, to learn what single cells do not show: which mark separates decimals, and whether each
 * id belongs to one order. Then its orders can be read.
 *
 * @throws {AppError} VALIDATION_FAILED naming the line
 */
export async function openCsv(handle: FileHandle, settings: FileSettings): Promise<CsvOrders> {
  const marks = { amount: new ColumnMarks(), refunded: new ColumnMarks(), price: new ColumnMarks() };
  const ids = new RecentIds();
  let isByNumber: boolean | undefined;
  for await (const group of groupsOf(handle)) {
    ids.add(group);
    isByNumber = group.isByNumber;
    for (const row of group.rows) noteAmounts(row, marks, settings);
  }
  if (isByNumber === undefined) throw faultAt(1, "The file has no orders: export them again.");
  requireClearMarks(marks, settings);
  const reader = new OrderReader(marks, settings);
  return {
    isByNumber,
    async *read() {
      for await (const group of groupsOf(handle)) yield reader.orderOf(group);
    },
  };
}

type Marks = Readonly<Record<AmountColumn, ColumnMarks>>;

function noteAmounts(row: OrderRowOfFile, marks: Marks, { currency }: FileSettings): void {
  for (const column of amountColumns) {
    const text = row.cells[column];
    if (text === undefined || text === "") continue;
    const amount = readAmount(text, currency);
    if (amount === undefined) throw amountFault(row, column, currency);
    marks[column].note(amount, row.line);
  }
}

function amountFault({ cells, columns, line }: OrderRowOfFile, column: AmountColumn, currency: string | null) {
  const what = currency === null ? "an amount" : `an amount of ${currency}`;
  const text = shownValue(cells[column] ?? "");
  return faultAt(line, `${columns.names[column]} must be ${what}, such as 1234.50, and not ${text}.`);
}

function requireClearMarks(marks: Marks, { currency }: FileSettings): void {
  const decimals = currencyDecimals(currency);
  for (const column of amountColumns) {
    const line = marks[column].ambiguousLine(decimals);
    if (line === undefined) continue;
    const message =
      "The mark before the last three digits of an amount may separate thousands or decimals, and no other row of the column " +
      "shows which: write all amounts with two decimals, such as 1234.00.";
    throw faultAt(line, message);
  }
}

const linesExceed =
  "The lines come to more than the order, as with a discount of all of it, and were left out: the shop's REST list of orders as NDJSON " +
  "says what each was sold for.";

class OrderReader {
  readonly #decimals: number;
  readonly #timeOf: ReadTime;

  constructor(
    private readonly marks: Marks,
    private readonly settings: FileSettings,
  ) {
    this.#decimals = currencyDecimals(settings.currency);
    this.#timeOf = timeReader(settings.timeZone);
  }

  orderOf({ id, name, first, rows, isByNumber }: OrderGroup): FileOrder {
    const { cells, line } = first;
    const amount = this.#totalOf(first);
    const status = statusOf(cells.status ?? "");
    const refunded = Math.min(Math.abs(this.#refundedOf(first, status)), amount);
    const isCancelled = Boolean(cells.cancelledAt) && this.#time(first, "cancelledAt") !== undefined;
    const lines = rows.flatMap((row) => this.#lineOf(row));
    const sum = lines.reduce((all, item) => all + toUnits(item.amount), 0);
    // If lines exceed the order, it has discounts that no line shows.
    const areMore = sum > toUnits(amount) + toUnits(0.01);
    const faults = areMore ? [linesExceed] : [];
    const order: OrderInput = {
      id,
      placedAt: this.#time(first, "placedAt"),
      amount,
      currency: cells.currency?.toUpperCase() || null,
      viewerId: viewerOf(first, (fault) => faults.push(fault)),
      lines: areMore ? [] : lines,
      refunds: refunded > 0 ? [{ id: "file", amount: refunded }] : [],
    };
    if (status.isPaid) this.#requireCurrency(order, line);
    return { order, line, name, faults, csv: { status, isGone: isCancelled || status.isGone, refunded, isByNumber } };
  }

  #requireCurrency({ currency: given }: OrderInput, line: number): void {
    const { currency } = this.settings;
    if (!given || currency === null || given === currency) return;
    throw faultAt(line, mustBe("currency", `${currency}, the currency of the store`, given));
  }

  #totalOf(row: OrderRowOfFile): number {
    const amount = this.#amount(row, "amount");
    if (amount !== undefined && amount >= 0) return amount;
    throw amountFault(row, "amount", this.settings.currency);
  }

  #refundedOf(row: OrderRowOfFile, { isPart }: OrderStatus): number {
    const refunded = this.#amount(row, "refunded");
    if (refunded !== undefined || !isPart) return refunded ?? 0;
    throw faultAt(
      row.line,
      "The order is partly refunded, but the file does not say how much: add the column Refunded Amount.",
    );
  }

  #lineOf(row: OrderRowOfFile): OrderLineInput[] {
    const { sku: own, variant, product, lineName } = row.cells;
    const ids = [own, variant, product].filter(isName);
    const [sku, ...others] = ids.length > 0 ? ids : [lineName ?? ""];
    if (!sku) return [];
    const text = row.cells.quantity ?? "";
    const isThousands = /^[1-9]\d{0,2}[.,]000$/u.test(text); // or a whole number with three decimals
    const quantity = /^\d+(?:[.,]0+)?$/u.test(text) && !isThousands ? Number.parseInt(text, 10) : undefined;
    const price = this.#amount(row, "price");
    if (price === undefined || price < 0) throw amountFault(row, "price", this.settings.currency);
    if (quantity === undefined) {
      const message = `${row.columns.names.quantity} must be a whole number, and not ${shownValue(text)}.`;
      throw faultAt(row.line, message);
    }
    const names = [sku, ...others.filter(canBeKey)];
    return quantity === 0 ? [] : [{ sku, names, quantity, amount: exact(price * quantity) }];
  }

  /** Undefined for an empty cell. */
  #amount(row: OrderRowOfFile, column: AmountColumn): number | undefined {
    const text = row.cells[column];
    if (text === undefined || text === "") return undefined;
    const amount = readAmount(text, this.settings.currency);
    const value = amount && this.marks[column].valueOf(amount, this.#decimals);
    if (value === undefined) throw amountFault(row, column, this.settings.currency);
    return value;
  }

  #time({ cells, columns, line }: OrderRowOfFile, column: "placedAt" | "cancelledAt"): Date {
    const text = cells[column] ?? "";
    const time = this.#timeOf(text, columns.utc.has(column));
    if (time !== undefined) return time;
    const shown = shownValue(text);
    throw faultAt(line, `${columns.names[column]} must be a time such as 2026-05-04 12:00:00 +0200, and not ${shown}.`);
  }
}

/** From its own column, or from Shopify's notes of an order, under any of the names that hooks accept. */
function viewerOf({ cells }: OrderRowOfFile, note: Note): string | null {
  const { viewer = "", otherViewer = "", notes = "" } = cells;
  const noted = notes.split("\n").flatMap((line) => {
    const end = line.indexOf(":");
    return isViewerName(line.slice(0, Math.max(0, end))) ? [line.slice(end + 1)] : [];
  });
  for (const text of new Set([viewer, otherViewer, ...noted])) {
    const id = viewerIdOf(text, note);
    if (id !== null) return id;
  }
  return null;
}

const shape =
  /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(:\d{2}(?:\.\d{1,9})?)?)? ?(Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?)?$/iu;

/** Undefined for a text that is not a time. @param isUtc whether a time without a zone is in UTC, and not in the store's zone */
type ReadTime = (text: string, isUtc: boolean) => Date | undefined;

/** Reads times such as `2026-05-04 12:00:00 +0200`. A time without a zone is in the store's; a day without a time means its start. */
export function timeReader(timeZone: string): ReadTime {
  const momentOf = momentReader(timeZone);
  return (text, isUtc) => {
    const [, day, minutes = "00:00", seconds = ":00", zone] = shape.exec(text) ?? [];
    if (day === undefined) return undefined;
    const shown = `${day}T${minutes}${seconds}`;
    if (zone !== undefined) return parseDateTime(`${shown}${offsetOf(zone)}`);
    const asUtc = parseDateTime(`${shown}Z`);
    return isUtc || asUtc === undefined ? asUtc : new Date(momentOf(asUtc.getTime() / 1_000) * 1_000);
  };
}

/** As RFC 3339 writes it. */
function offsetOf(zone: string): string {
  if (!/^[+-]/u.test(zone)) return "Z";
  const [hours, minutes] = [zone.slice(0, 3), zone.slice(3).replace(":", "") || "00"];
  return `${hours}:${minutes}`;
}

/** The adjacent rows of one order. Only the first needs the values of the whole order. */
interface OrderGroup {
  readonly id: string;
  /** The number or the name that customers see; empty if the file has none. */
  readonly name: string;
  readonly first: OrderRowOfFile;
  readonly rows: readonly OrderRowOfFile[];
  /** Whether the file has no ids, so that a number or a name serves as one. */
  readonly isByNumber: boolean;
}

const rowsMax = 500;

async function* groupsOf(handle: FileHandle): AsyncGenerator<OrderGroup, void> {
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
  const id = columns.at.id === undefined ? name : (cells.id ?? "").replace(/^'|^="(.*)"$/u, "$1");
  if (isOfSpreadsheet(id)) {
    const message = `${shownValue(id)} is an id that a spreadsheet changed: export the orders again, and do not save them from a spreadsheet.`;
    throw faultAt(line, message);
  }
  return { id, name };
}

/** Whether an id looks like a number in a spreadsheet: `5.12E+12`, `512.3E+10`, `5123456789012.0`, `5,123,456`, `5 123 456`. */
function isOfSpreadsheet(id: string): boolean {
  const isPower = /^\d{1,3}(?:[.,]\d+)?E\+\d+$/iu.test(id) || /^\d(?:[.,]\d+)E\d+$/iu.test(id);
  return isPower || /^\d+[.,][\d.,]*$/u.test(id) || /^\d{1,3}(?:[\s'’]\d{3})+$/u.test(id);
}

const ofOrder = ["amount", "refunded", "currency", "status", "placedAt", "cancelledAt"] as const;

/** Further rows of an order must repeat the values of the first one, or leave them empty. */
function requireSame({ id, name, first }: OrderGroup, { cells, columns, line }: OrderRowOfFile, other: string): void {
  if (name !== "" && other !== "" && name !== other) throw twoNames(line, id, [name, other]);
  const column = ofOrder.find(
    (key) => cells[key] !== undefined && cells[key] !== "" && cells[key] !== first.cells[key],
  );
  if (column === undefined) return;
  const values = `${shownValue(cells[column] ?? "")}, and on line ${first.line} ${shownValue(first.cells[column] ?? "")}`;
  throw faultAt(
    line,
    `${columnName(column, columns.names)} of order ${shownValue(id)} is ${values}: it must be the same for the whole order.`,
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

/** Refuses an id that returns within 10,000 orders, with another name or apart from its first rows. */
class RecentIds {
  readonly #names = new Map<string, string>();

  add({ id, name, first: { line } }: OrderGroup): void {
    const before = this.#names.get(id);
    if (before !== undefined && before !== name) throw twoNames(line, id, [before, name]);
    if (before !== undefined) {
      throw faultAt(line, `The rows of order ${shownValue(id)} are not adjacent: sort the file by order.`);
    }
    this.#names.set(id, name);
    const [oldest] = this.#names.keys();
    if (this.#names.size > groupsMax && oldest !== undefined) this.#names.delete(oldest);
  }
}
