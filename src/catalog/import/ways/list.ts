import { setImmediate } from "node:timers/promises";
import type { RootDatabase } from "../../../database/client.js";
import { type AppError, errorAt, type Path } from "../../../errors.js";
import type { SentDigits } from "../../../lib/json/digits.js";
import { ChunkBuilder } from "../../sources/chunk.js";
import { checkProduct, type Place } from "../../product/product.input.js";
import { type ErrorPolicy, RowChecks } from "../../sources/rowChecks.js";
import { importFrom, type ImportOptions } from "../import.js";
import type { ProductSource } from "../job.js";
import type { ImportResult } from "../result.js";

interface ListOptions extends ImportOptions {
  readonly pathOf?: (index: number) => Path;
  /** Of the JSON that had the products. */
  readonly digits?: SentDigits | undefined;
}

/**
 * Products need not be valid: all are stored, or as `errorPolicy` says.
 *
 * @throws {AppError} SITE_NOT_FOUND, or VALIDATION_FAILED with every problem
 */
export async function importProducts(
  db: RootDatabase,
  storeId: string,
  products: readonly unknown[],
  { pathOf = (index) => ["products", index], digits, ...options }: ListOptions = {},
): Promise<ImportResult> {
  const { productsMax = Infinity } = options;
  if (products.length > productsMax) {
    throw tooManyProducts(productsMax);
  }
  const source = listSource(products, pathOf, options.errorPolicy ?? "REJECT_ALL", digits);
  return importFrom(db, storeId, source, options);
}

export function tooManyProducts(productsMax: number): AppError {
  const message = `At most ${productsMax} products can be imported at once (MAX_BULK_PRODUCTS).`;
  return errorAt("VALIDATION_FAILED", message, ["products"]);
}

/** Yields to the event loop between chunks. */
export function listSource(
  products: readonly unknown[],
  pathOf: (index: number) => Path,
  errorPolicy: ErrorPolicy,
  digits?: SentDigits,
): ProductSource {
  const digitsOf: Place["digitsOf"] = (name, value) => digits?.of(name, value);
  return {
    bytes: 0, // they are in memory
    isOnThread: false,
    async *read({ isPatch = false } = {}) {
      const checks = new RowChecks(errorPolicy);
      const chunk = new ChunkBuilder(checks, { isPatch });
      for (const [line, product] of products.entries()) {
        const isValid = checkProduct(product, { path: pathOf(line), digitsOf }, checks.row, isPatch);
        chunk.addSent(product, { line, isValid }, 0);
        checks.endRow(line);
        if (!chunk.full) continue;
        yield chunk.take();
        await setImmediate();
      }
      if (chunk.rows > 0) yield chunk.take();
      return { rows: products.length, ...checks.found };
    },
    placeOf: (index, field) => ({ path: pathOf(index).concat(field) }),
    positionOf: (index) => ({ index, line: null }),
  };
}
