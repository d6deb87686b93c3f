import { setImmediate } from "node:timers/promises";
import type { Path } from "../errors.js";
import { productColumns, productKeys } from "./product.columns.js";
import { type ErrorPolicy, RowChecks } from "./product.rowChecks.js";
import type { ProductSource } from "./product.import.js";
import { checkProduct, type ProductInput } from "./product.input.js";

/** Rows of one statement: enough to make the round trip cheap, few enough to encode them in a few milliseconds. */
const chunkRows = 2_000;

/** Products that are in memory already. All are checked before anything is sent; between chunks the event loop serves others. */
export function listSource(
  products: readonly unknown[],
  pathOf: (index: number) => Path,
  errorPolicy: ErrorPolicy,
): ProductSource {
  return {
    isLong: products.length > chunkRows,
    async *read() {
      const checks = new RowChecks(errorPolicy);
      const sound: boolean[] = [];
      for (const [index, product] of products.entries()) {
        if (index > 0 && index % chunkRows === 0) await setImmediate();
        sound.push(checkProduct(product, { path: pathOf(index) }, checks.row));
        checks.endRow(index);
      }
      for (let start = 0; start < products.length; start += chunkRows) {
        const rows = products.slice(start, start + chunkRows).map((product, index) => ({
          product: sound[start + index] === true ? (product as ProductInput) : (productKeys(product) ?? {}), // checked
          line: start + index,
        }));
        yield { rows: rows.length, columns: productColumns(rows), isSound: checks.isSound };
      }
      return { rows: products.length, ...checks.found };
    },
    placeOf: (index, field) => ({ path: pathOf(index).concat(field) }),
    positionOf: (index) => ({ index, line: null }),
  };
}
