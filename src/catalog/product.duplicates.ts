import { inOrderOfRows, type Path, type Problem, Problems } from "../errors.js";
import { clip } from "../text.js";
import { productKeys } from "./product.columns.js";
import { checkProducts, type Place } from "./product.input.js";

/**
 * Checks products that are refused already, some of them for not even having the shape of one, so that one answer names
 * every problem: those of each product by itself, and ids and skus that stand in more than one.
 */
export function checkRefusedProducts(
  products: readonly unknown[],
  pathOf: (index: number) => Path,
  problems: Problems,
): void {
  const own = new Problems();
  checkProducts(products, pathOf, own);
  const keys = products.map((product) => productKeys(product));
  const duplicates = (["id", "sku"] as const).map((field) => {
    const found = new Problems();
    const times = new Map<string | undefined, number>();
    for (const key of keys) times.set(key?.[field], (times.get(key?.[field]) ?? 0) + 1);
    keys.forEach((key, index) => {
      const value = key?.[field];
      if (value === undefined || times.get(value) === 1) return;
      found.add(duplicateProblem({ field, value }, { path: pathOf(index).concat(field) }));
    });
    return found;
  });
  problems.addAll(inOrderOfRows(own, ...duplicates));
}

/** What is wrong with a row beside others: its id or its sku. */
interface TakenKey {
  readonly field: "id" | "sku";
  readonly value: string;
}

/** The same id or sku twice in one import is a problem of every product that has it. */
export function duplicateProblem({ field, value }: TakenKey, place: Place): Problem {
  const message = `${field} ${JSON.stringify(clip(value))} stands in more than one product of this import.`;
  return { code: "DUPLICATE", message, ...place };
}

/** The key of a row belongs to another product, which keeps it. */
export function conflictProblem({ field, value }: TakenKey, place: Place): Problem {
  const message = `${field} ${JSON.stringify(clip(value))} belongs to another product of the store.`;
  return { code: "CONFLICT", message, ...place };
}
