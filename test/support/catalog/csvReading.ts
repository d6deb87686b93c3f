import { expect } from "vitest";
import { type CsvSource, readProductCsv } from "../../../src/catalog/import/entryPoints/fileProducts.js";
import { productColumns } from "../../../src/files/product/product.columns.js";
import { productFieldNames } from "../../../src/files/product/product.fields.js";
import type { CsvChunk, CsvOptions } from "../../../src/files/csv/csv.js";

export const header = "id,sku,title,available,featured_image,url";
export const row = (id: string): string => `${id},s-${id},Title,true,https://a.example/i.jpg,https://a.example/p`;
/** The columns of a row without values. */
export const emptyRow = Object.fromEntries(
  productFieldNames.map((name) => [name, productColumns[name].type === "text[]" ? "{}" : null]),
);
export const stored = (line: number, id: string) => ({
  ...emptyRow,
  line: String(line),
  id,
  sku: `s-${id}`,
  title: "Title",
  description: null,
  price: null,
  price_min: null,
  price_max: null,
  available: "true",
  images: "{}",
  featured_image: "https://a.example/i.jpg",
  url: "https://a.example/p",
  searchWords: [...new Set(["", "title", ...`s-${id}`.matchAll(/\p{L}+|\p{N}+/gu)].flat())].join(" "),
});

export function lines(count: number, line: (id: string) => string, first = header): string {
  return [first, ...Array.from({ length: count }, (_, index) => line(String(index + 1)))].join("\n");
}

export async function collect(reader: ReturnType<typeof readProductCsv>) {
  const chunks: CsvChunk[] = [];
  for (;;) {
    const step = await reader.next();
    if (step.done === true) return { chunks, result: step.value };
    chunks.push(step.value);
  }
}

export function readChunks(source: CsvSource, options: CsvOptions = {}) {
  return collect(readProductCsv(source, { pathPrefix: ["csvContent"], ...options }));
}

export async function read(whole: string, options?: CsvOptions) {
  const { chunks, result } = await readChunks({ text: whole }, options);
  return { rows: rowsOf(chunks), result };
}

export async function problemsOf(whole: string) {
  return (await read(whole)).result.problems.list;
}

/** The rows of the chunks, as PostgreSQL would unnest them. */
export function rowsOf(chunks: readonly CsvChunk[]): Record<string, string | null>[] {
  return chunks.flatMap(({ rows, columns }) => {
    const lists = Object.entries(columns)
      .filter(([name]) => name !== "present") // of patches
      .map(([name, literal]) => [name, elementsOf(literal)] as const);
    for (const [, list] of lists) expect(list).toHaveLength(rows);
    return Array.from({ length: rows }, (_, index) =>
      Object.fromEntries(lists.map(([name, list]) => [name, list[index] ?? null])),
    );
  });
}

/** The elements of an array literal, by PostgreSQL's rules as far as they are used. */
function elementsOf(literal: string): (string | null)[] {
  expect(literal).toMatch(/^\{(?:(?:"(?:[^"\\]|\\[^])*"|[^\s"\\{},]+)(?:,(?!\})|(?=\})))*\}$/u);
  const elements = literal.slice(1, -1).matchAll(/"((?:[^"\\]|\\[^])*)"|[^,]+/gu);
  return Array.from(elements, ([element, quoted]) => {
    if (quoted !== undefined) return quoted.replaceAll(/\\([^])/gu, "$1");
    return element.toUpperCase() === "NULL" ? null : element;
  });
}
