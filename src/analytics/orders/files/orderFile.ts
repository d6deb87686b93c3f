import { type FileHandle, open } from "node:fs/promises";
import { readCells } from "../../../catalog/sources/csv/recordCells.js";
import { delimiters, type CsvRecord, RecordSplitter } from "../../../catalog/sources/csv/records.js";
import { AppError, errorAt } from "../../../errors.js";
import { parseDateTime } from "../../../lib/dateTime.js";
import { clip } from "../../../lib/text.js";
import { exact } from "../units.js";
import type { OrderInput, OrderLineInput } from "../order.rules.js";
import { faultAt, readJsonLines } from "./orderLines.js";
import { columnsOf, type OrderColumn } from "./orderColumns.js";

export interface FileOrder {
  readonly order: OrderInput;
  /** On which it begins, from 1. */
  readonly line: number;
  /** Orders that were not paid, or were cancelled, count for nothing. */
  readonly counts: boolean;
}

/**
 * Reads the orders of a file, in its order and in constant memory: a JSON object on each line, as recordOrders takes it, or the CSV
 * export of Shopify or WooCommerce.
 *
 * @throws {AppError} VALIDATION_FAILED naming the line
 */
export async function* readOrderFile(path: string): AsyncGenerator<FileOrder, void> {
  const handle = await open(path);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(1_024), 0, 1_024, 0);
    const start = buffer.toString("utf8", 0, bytesRead).replace(/^\uFEFF?\s*/u, "");
    const { size } = await handle.stat();
    if (start.startsWith("{")) for await (const found of readJsonLines(handle, size)) yield { ...found, counts: true };
    else yield* readCsv(handle);
  } finally {
    await handle.close();
  }
}

type Row = Readonly<Partial<Record<OrderColumn, string>>>;

/** Rows of one order follow each other: only the first has what concerns all of it. */
async function* readCsv(handle: FileHandle): AsyncGenerator<FileOrder, void> {
  let current: { first: Row; line: number; lines: OrderLineInput[] } | undefined;
  for await (const { row, line } of rowsOf(handle)) {
    const isSame = current !== undefined && keyOf(row) === keyOf(current.first);
    if (!isSame && current !== undefined) yield orderOf(current);
    if (!isSame || current === undefined) current = { first: row, line, lines: [] };
    current.lines.push(...lineOf(row, line));
  }
  if (current !== undefined) yield orderOf(current);
}

function keyOf(row: Row): string {
  return row.name || row.id || "";
}

async function* rowsOf(handle: FileHandle): AsyncGenerator<{ row: Row; line: number }, void> {
  const splitter = new RecordSplitter(delimiterOf);
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let columns: Partial<Record<OrderColumn, number>> | undefined;
  const take = async function* (records: readonly CsvRecord[]) {
    const cellsOf = await readCells(records, splitter.delimiter);
    for (const record of records) {
      const cells = cellsOf(record);
      if (cells === undefined) throw faultAt(record.line, "The row cannot be read as CSV.");
      if (columns === undefined) columns = requireColumns(cells);
      else yield { row: rowOf(cells, columns), line: record.line };
    }
  };
  for await (const bytes of handle.createReadStream({ start: 0, autoClose: false }) as AsyncIterable<Buffer>) {
    yield* take(splitter.push(decode(decoder, bytes)));
  }
  yield* take(splitter.push(decode(decoder)));
  yield* take(splitter.end());
}

function decode(decoder: TextDecoder, bytes?: Buffer): string {
  try {
    return decoder.decode(bytes, { stream: bytes !== undefined });
  } catch {
    throw new AppError("BAD_REQUEST", "The file is not UTF-8: export it as such.");
  }
}

function delimiterOf(header: string) {
  const counts = delimiters.map((delimiter) => header.split(delimiter).length);
  return delimiters[counts.indexOf(Math.max(...counts))] ?? ",";
}

function requireColumns(header: readonly string[]) {
  const columns = columnsOf(header);
  const missing = (["placedAt", "amount"] as const).filter((name) => columns[name] === undefined);
  if (columns.id === undefined && columns.name === undefined) missing.unshift("id" as never);
  if (missing.length === 0) return columns;
  const message = `The file is no order export of Shopify or WooCommerce, and no NDJSON: it has no column for ${missing.join(", ")}.`;
  throw errorAt("VALIDATION_FAILED", message, []);
}

function rowOf(cells: readonly string[], columns: Partial<Record<OrderColumn, number>>): Row {
  return Object.fromEntries(Object.entries(columns).map(([name, at]) => [name, (cells[at] ?? "").trim()]));
}

const unpaid = new Set([
  "pending",
  "authorized",
  "voided",
  "expired",
  "failed",
  "cancelled",
  "on-hold",
  "pending payment",
  "draft",
  "",
]);

function orderOf({ first, line, lines }: { first: Row; line: number; lines: readonly OrderLineInput[] }): FileOrder {
  const amount = amountOf(first.amount, "amount", line) ?? 0;
  const status = first.status?.toLowerCase();
  const refunded = refundedOf(first, amount, line);
  const placedAt = dateOf(first.placedAt, line);
  const sum = lines.reduce((all, item) => all + item.amount, 0);
  const order: OrderInput = {
    id: first.id?.replace(/^'/u, "") || first.name || "",
    placedAt,
    amount,
    currency: first.currency || null,
    viewerId: viewerOf(first),
    // Discounts of the whole order are not those of a line.
    lines: sum <= amount + 0.01 ? lines : [],
    refunds: refunded > 0 ? [{ id: "file", at: placedAt, amount: refunded }] : [],
  };
  return { order, line, counts: status === undefined || !unpaid.has(status) };
}

function refundedOf({ refunded, cancelledAt, status }: Row, amount: number, line: number): number {
  const given = amountOf(refunded, "refunded", line) ?? 0;
  const isAll = Boolean(cancelledAt) || (status?.toLowerCase() === "refunded" && given === 0);
  return isAll ? amount : Math.min(Math.abs(given), amount);
}

/** Of a column of its own, or as Shopify writes it among the notes of an order. */
function viewerOf({ viewer, notes = "" }: Row): string | null {
  return viewer || (/(?:^|\n)vitrine_viewer:\s*(\S+)/u.exec(notes)?.[1] ?? null);
}

function lineOf(row: Row, line: number): OrderLineInput[] {
  const name = row.sku || row.lineName;
  if (!name) return [];
  const quantity = Math.max(1, Math.round(Number(row.quantity ?? 1) || 1));
  const price = amountOf(row.price, "price", line) ?? 0;
  return [{ sku: name, quantity, amount: exact(price * quantity) }];
}

function amountOf(text: string | undefined, name: string, line: number): number | undefined {
  if (text === undefined || text === "") return undefined;
  const amount = Number(
    text
      .replaceAll(/[^\d.,-]/gu, "")
      .replace(/,(?=\d{3}(?:\D|$))/gu, "")
      .replace(",", "."),
  );
  if (!Number.isFinite(amount)) throw faultAt(line, `${name} is no amount: ${JSON.stringify(clip(text))}.`);
  return amount;
}

/** `2026-05-04 12:00:00 +0200`; without a time zone, of UTC. */
function dateOf(text: string | undefined, line: number): Date {
  const [, day, time = "00:00:00", zone = "Z"] =
    /^(\d{4}-\d{2}-\d{2})[T ]?(\d{2}:\d{2}(?::\d{2})?)?(?:\.\d+)? ?(Z|[+-]\d{2}:?\d{2})?$/u.exec(text ?? "") ?? [];
  const seconds = time.length === "00:00".length ? `${time}:00` : time;
  const offset = zone === "Z" ? zone : `${zone.slice(0, 3)}:${zone.slice(-2)}`;
  const date = parseDateTime(`${day}T${seconds}${offset}`);
  if (date === undefined) throw faultAt(line, `The date cannot be read: ${JSON.stringify(clip(text ?? ""))}.`);
  return date;
}
