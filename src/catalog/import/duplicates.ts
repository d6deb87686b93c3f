import type { Problem } from "../../errors.js";
import { clip } from "../../lib/text.js";
import type { Place } from "../product.input.js";

/** What is wrong with a row beside others: its id or its sku. */
interface TakenKey {
  readonly field: "id" | "sku";
  readonly value: string;
}

/** The same id or sku twice in one import is a problem of every product that has it. */
export function duplicateProblem({ field, value }: TakenKey, place: Place): Problem {
  const message = `${field} ${JSON.stringify(clip(value))} appears in more than one product of this import.`;
  return { code: "DUPLICATE", message, ...place };
}

/** The key of a row belongs to another product, which keeps it. */
export function conflictProblem({ field, value }: TakenKey, place: Place): Problem {
  const message = `${field} ${JSON.stringify(clip(value))} belongs to another product of the store.`;
  return { code: "CONFLICT", message, ...place };
}
