import { setImmediate } from "node:timers/promises";
import type { RootDatabase } from "../../../database/client.js";
import { type AppError, errorAt, type Path } from "../../../errors.js";
import { chunkRowsMax } from "../../reading/chunkRows.js";
import { encodeRows, presence, productKeys } from "../../product.columns.js";
import { checkerOf, type ProductInput } from "../../product.input.js";
import { type ErrorPolicy, RowChecks } from "../../reading/rowChecks.js";
import { importFrom, type ImportOptions } from "../import.js";
import type { ProductSource } from "../job.js";
import type { ImportResult } from "../result.js";

/**
 * Products need not be valid: all are stored, or as `errorPolicy` says.
 *
 * @throws {AppError} SITE_NOT_FOUND, or VALIDATION_FAILED with every problem
 */
export async function importProducts(
  db: RootDatabase,
  storeId: string,
  products: readonly unknown[],
  { pathOf = (index) => ["products", index], ...options }: ImportOptions & { pathOf?: (index: number) => Path } = {},
): Promise<ImportResult> {
  const { productsMax = Infinity } = options;
  if (products.length > productsMax) {
    throw tooManyProducts(productsMax);
  }
  return importFrom(db, storeId, listSource(products, pathOf, options.errorPolicy ?? "REJECT_ALL"), options);
}

export function tooManyProducts(productsMax: number): AppError {
  const message = `At most ${productsMax} products can be imported at once (MAX_BULK_PRODUCTS).`;
  return errorAt("VALIDATION_FAILED", message, ["products"]);
}

/** Checks all products before the first chunk; yields to the event loop between chunks. */
export function listSource(
  products: readonly unknown[],
  pathOf: (index: number) => Path,
  errorPolicy: ErrorPolicy,
): ProductSource {
  return {
    isOnThread: false,
    async *read({ isPatch = false } = {}) {
      const check = checkerOf(isPatch);
      const checks = new RowChecks(errorPolicy);
      const valid: boolean[] = [];
      for (const [index, product] of products.entries()) {
        if (index > 0 && index % chunkRowsMax === 0) await setImmediate();
        valid.push(check(product, { path: pathOf(index) }, checks.row));
        checks.endRow(index);
      }
      for (let start = 0; start < products.length; start += chunkRowsMax) {
        const rows = products.slice(start, start + chunkRowsMax).map((sent, index) => {
          const isValid = valid[start + index] === true;
          const product = isValid ? (sent as Partial<ProductInput>) : (productKeys(sent) ?? {}); // checked
          return { product, line: start + index, ...presence(product, { isPatch, isValid }) };
        });
        yield { rows: rows.length, columns: encodeRows(rows), faults: checks.faults };
      }
      return { rows: products.length, ...checks.found };
    },
    placeOf: (index, field) => ({ path: pathOf(index).concat(field) }),
    positionOf: (index) => ({ index, line: null }),
  };
}
