import { isUnparsedList, type UnparsedValue } from "../../lib/json/body.js";
import { parsedSlices } from "../../lib/json/elements.js";
import { ChunkBuilder } from "./chunk.js";
import type { CsvChunk, CsvOptions, CsvResult } from "./csv.js";
import { checkerOf } from "../product.input.js";
import { RowChecks } from "./rowChecks.js";

const sliceBytes = 64 * 1024;
/** More than a product of maximum length has. */
const productBytesMax = 4 * 1024 * 1024;

/** Where they are in a body. */
export type ProductsRange = Pick<UnparsedValue, "start" | "end" | "first">;

export interface JsonOptions extends Omit<CsvOptions, "rowsMax"> {
  /** As in GraphQL, a single image is coerced to a list. */
  readonly takesSingles?: boolean;
}

export function withImageList(product: unknown): unknown {
  if (typeof product !== "object" || product === null || Array.isArray(product)) return product;
  const { images } = product as { images?: unknown };
  return typeof images === "string" ? { ...product, images: [images] } : product;
}

/**
 * As `readCsv`, from the JSON of a list or a single product.
 *
 * @param options.pathPrefix of the list or the product
 * @throws {AppError} BAD_REQUEST for invalid JSON
 */
export function* readProductsJson(
  bytes: Buffer,
  json: ProductsRange,
  { pathPrefix = [], errorPolicy = "REJECT_ALL", takesSingles = false, keysOnly, isPatch = false }: JsonOptions = {},
): Generator<CsvChunk, CsvResult> {
  const { start, end } = json;
  const isList = isUnparsedList(json);
  const [first, last] = isList ? [start + 1, end - 1] : [start, end];
  const pathOf = (index: number) => (isList ? pathPrefix.concat(index) : pathPrefix);
  const check = checkerOf(isPatch);
  const checks = new RowChecks(errorPolicy);
  const chunk = new ChunkBuilder(checks, { keysOnly, isPatch });
  const take = () => ({ bytesRead: 0, faults: checks.faults, ...chunk.take() });
  let rows = 0;
  const slices = parsedSlices(bytes, first, last, { sliceBytes, elementBytesMax: productBytesMax });
  for (const { elements: products, bytes: length } of slices) {
    if (products === undefined) {
      const message = `A product may have at most ${productBytesMax} bytes.`;
      checks.row.add({ code: "TOO_LONG", message, path: pathOf(rows) });
      checks.endRow(rows);
      rows += 1;
      continue;
    }
    const charactersEach = length / Math.max(1, products.length);
    for (const sent of products) {
      const product = takesSingles ? withImageList(sent) : sent;
      const isValid = check(product, { path: pathOf(rows) }, checks.row);
      chunk.addSent(product, { line: rows, isValid }, charactersEach);
      checks.endRow(rows);
      rows += 1;
      if (chunk.full) yield take();
    }
  }
  if (chunk.rows > 0) yield take();
  return { rows, ...checks.found };
}
