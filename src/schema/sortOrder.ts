import type { SortDirection as Direction, SortPosition } from "../database/sql/keyset.js";
import { errorAt } from "../errors.js";
import { builder, enumValues } from "./builder.js";
import { decodeCursor } from "./connections.js";

export const SortDirection = builder.enumType("SortDirection", {
  description: "The direction of a list.",
  values: enumValues<Direction>({
    ASC: "Smallest, alphabetically first or earliest first.",
    DESC: "Largest, alphabetically last or latest first.",
  }),
});

/** An order as cursors name it. */
export interface SortOrder<Key extends string> {
  readonly orderBy: Key;
  readonly direction: Direction;
}

/** The number of parts in a cursor that names its order. */
const cursorParts = 4;

/** @throws {AppError} VALIDATION_FAILED for a cursor of any other order */
export function sortPosition(
  after: string | null | undefined,
  { orderBy, direction }: SortOrder<string>,
  isValue: (value: string) => boolean,
): SortPosition | undefined {
  const [by, way, value, id] = decodeCursor(after, 1, 2, 3, cursorParts) ?? [];
  if (by === undefined) return undefined;
  if (value === undefined || id === undefined || by !== orderBy || way !== direction) throw cursorOfOtherOrder();
  if (isValue(value)) return { value, id };
  throw errorAt("VALIDATION_FAILED", "after must be a cursor of this list.", ["after"]);
}

export function cursorOfOtherOrder() {
  const message = "after must be a cursor of this list in the same order: orderBy and direction as they were.";
  return errorAt("VALIDATION_FAILED", message, ["after"]);
}
