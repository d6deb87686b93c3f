import type { Path } from "../errors.js";
import { productColumns, productKeys } from "./product.columns.js";
import { type ErrorPolicy, RowChecks } from "./product.failures.js";
import type { ProductSource } from "./product.import.js";
import { checkProduct, type ProductInput } from "./product.input.js";

/** Rows of one statement: enough to make the round trip cheap, few enough to encode them in a few milliseconds. */
const chunkRows = 2_000;

/** Products that are in memory already. They are checked before anything is sent. */
export function listSource(
  products: readonly unknown[],
  pathOf: (index: number) => Path,
  errorPolicy: ErrorPolicy,
): ProductSource {
  return {
    isLong: products.length > chunkRows,
    async *read() {
      const checks = new RowChecks(errorPolicy);
      const sound = products.map((product, index) => {
        const isSound = checkProduct(product, { path: pathOf(index) }, checks.row);
        checks.endRow(index);
        return isSound;
      });
      for (let start = 0; start < products.length; start += chunkRows) {
        const rows = products.slice(start, start + chunkRows).map((product, index) => ({
          product: sound[start + index] === true ? (product as ProductInput) : (productKeys(product) ?? {}), // checked
          line: start + index,
        }));
        yield { rows: rows.length, columns: productColumns(rows) };
      }
      return { rows: products.length, ...checks.found };
    },
    placeOf: (index, field) => ({ path: pathOf(index).concat(field) }),
    positionOf: (index) => ({ index, line: null }),
  };
}
