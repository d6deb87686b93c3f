import { setImmediate } from "node:timers/promises";
import type { Path } from "../../errors.js";
import { chunkRowsMax, encodeRows, productKeys } from "../product.columns.js";
import { type ErrorPolicy, RowChecks } from "../reading/rowChecks.js";
import type { ProductSource } from "./import.js";
import { checkProduct, type ProductInput } from "../product.input.js";

/** Products that are in memory already. All are checked before anything is sent; between chunks the event loop serves others. */
export function listSource(
  products: readonly unknown[],
  pathOf: (index: number) => Path,
  errorPolicy: ErrorPolicy,
): ProductSource {
  return {
    isLong: products.length > chunkRowsMax,
    async *read({ keysOnly = false } = {}) {
      const checks = new RowChecks(errorPolicy);
      const valid: boolean[] = [];
      for (const [index, product] of products.entries()) {
        if (index > 0 && index % chunkRowsMax === 0) await setImmediate();
        valid.push(checkProduct(product, { path: pathOf(index) }, checks.row));
        checks.endRow(index);
      }
      for (let start = 0; start < products.length; start += chunkRowsMax) {
        const rows = products.slice(start, start + chunkRowsMax).map((product, index) => ({
          product: valid[start + index] === true ? (product as ProductInput) : (productKeys(product) ?? {}), // checked
          line: start + index,
        }));
        yield { rows: rows.length, columns: encodeRows(rows, keysOnly), isValid: checks.isValid };
      }
      return { rows: products.length, ...checks.found };
    },
    placeOf: (index, field) => ({ path: pathOf(index).concat(field) }),
    positionOf: (index) => ({ index, line: null }),
  };
}
