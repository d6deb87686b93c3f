import { expect } from "vitest";
import type { FormatReadOptions } from "../../../src/files/formats/fileState.js";
import { readCatalog } from "../../../src/files/formats/readFile.js";
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
    invalid: chunks.flatMap((chunk) => chunk.invalid),
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

/** A file of another system, and all that is read of it. */
export interface FileCase {
  readonly name: string;
  /** Its lines. */
  readonly file: readonly string[];
  readonly options?: FormatReadOptions;
  readonly format: FormatReadOptions["format"];
  /** Those that are stored, as `brief` shows them. */
  readonly products: readonly string[];
  /** What else they have, as far as it matters. */
  readonly details?: readonly object[];
  readonly problems?: readonly string[];
  readonly notes?: readonly string[];
}

/** Reads a file whose products fail singly, at once and in small pieces. */
export async function expectRead({ file, options, format, products, details, ...others }: FileCase): Promise<void> {
  const { problems = [], notes = [] } = others;
  for (const pieceBytes of [64 * 1024, 7]) {
    const given = { urlTemplate, errorPolicy: "REJECT_FAILED", ...options, pieceBytes } as const;
    const found = await readFile(`${file.join("\n")}\n`, given);
    const stored = found.products.filter(({ url }) => url !== undefined);
    expect({ ...found, products: brief(stored) }).toMatchObject({ format, products, problems, notes });
    if (details !== undefined) expect(stored).toMatchObject(details);
  }
}

/** What decides whether a product can be bought, in one line for each; the sku where it is not the id. */
export function brief(products: readonly Readonly<Record<string, unknown>>[]): string[] {
  return products.map(({ line, id, sku, title, price, available }) =>
    [`${String(line)}: ${[...new Set([id, sku])].join(" / ")}`, title, price, available].join(" | "),
  );
}

/** Columns and a row of cells, as CSV. */
export function csvRow(cells: Readonly<Record<string, string>>): string {
  return csvOf(Object.keys(cells).join(","), [cells]);
}
