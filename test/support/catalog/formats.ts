import type { FormatReadOptions } from "../../../src/catalog/sources/formats/opened.js";
import { readCatalog } from "../../../src/catalog/sources/formats/read.js";
import { collect, rowsOf } from "./csvReading.js";

/** Bytes in pieces of this size. */
async function* piecesOf(bytes: Buffer, size: number): AsyncGenerator<Buffer, void> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** What is read of a file: its products as they would be stored, problems as "line field: message", and notes. */
export async function readFile(
  content: string | Buffer,
  { pieceBytes = 64 * 1024, ...options }: FormatReadOptions & { readonly pieceBytes?: number } = {},
) {
  const bytes = typeof content === "string" ? Buffer.from(content) : content;
  const { chunks, result } = await collect(readCatalog(() => piecesOf(bytes, pieceBytes), options));
  const products = rowsOf(chunks).map((row) =>
    Object.fromEntries(Object.entries(row).filter(([name, value]) => value !== null && name !== "searchWords")),
  );
  const own = [...result.problems.list, ...(result.failed?.list ?? []).flatMap(({ problems }) => problems)];
  const problems = own.map(({ line, path, message }) => `${line} ${path.join(".")}: ${message}`);
  return {
    products,
    problems,
    notes: result.notes,
    format: result.format,
    preview: result.preview,
    skipped: result.skipped,
  };
}

/** CSV of a header and rows that name only some of its columns. */
export function csvOf(header: string, rows: readonly Readonly<Record<string, string>>[], delimiter = ","): string {
  const columns = header.split(",");
  const quoted = (text: string) => (/[",;\t\r\n]/u.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  return [columns, ...rows.map((row) => columns.map((name) => row[name] ?? ""))]
    .map((cells) => `${cells.map(quoted).join(delimiter)}\n`)
    .join("");
}

export const urlTemplate = "https://shop.example/{sku}";

export function imageUrl(name: string): string {
  return `https://cdn.example/${name}.jpg`;
}

/** Reads rows below a header, of which those that are invalid fail singly. */
export function readRows(
  header: string,
  rows: readonly Readonly<Record<string, string>>[],
  options: Parameters<typeof readFile>[1] = {},
) {
  return readFile(csvOf(header, rows), { urlTemplate, errorPolicy: "REJECT_FAILED", ...options });
}

/** What decides whether a product can be bought, in one line for each. */
export function brief(products: readonly Readonly<Record<string, unknown>>[]): string[] {
  return products.map(({ id, sku, title, price, available }) => [id, sku, title, price, available].join(" | "));
}
