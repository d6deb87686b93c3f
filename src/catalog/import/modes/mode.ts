import { type AppError, errorAt } from "../../../errors.js";

/** How an import treats the products that it contains, and the others of the store. */
export type ImportMode = "UPSERT" | "PATCH" | "REPLACE";

export interface ModeOptions {
  /** UPSERT by default. */
  readonly mode?: ImportMode | null | undefined;
  /** With REPLACE. By default, see `excessOf`. */
  readonly maxDeletions?: number | null | undefined;
}

/** By default a tenth of the catalog or 10 products, whichever is more, but at most half of the catalog. */
const deletionsMin = 10;
const deletionsShare = 0.1;
const deletionsShareMax = 0.5;

/** @throws {AppError} VALIDATION_FAILED for a negative maxDeletions, or one without REPLACE */
export function checkMode({ mode, maxDeletions }: ModeOptions): void {
  if (maxDeletions === undefined || maxDeletions === null) return;
  const fault =
    mode !== "REPLACE"
      ? "maxDeletions needs the mode REPLACE: no other one deletes products."
      : maxDeletions < 0
        ? `maxDeletions must be 0 or more, not ${maxDeletions}.`
        : undefined;
  if (fault !== undefined) throw errorAt("VALIDATION_FAILED", fault, ["maxDeletions"]);
}

interface Removals {
  /** Removed products that existed before the import. */
  readonly removed: number;
  readonly before: number;
  /** Products that the import stores. */
  readonly stored: number;
}

/**
 * Detects a feed that lost its rows. One without any product deletes nothing unless maxDeletions is given, because it is more often a
 * broken export than a shop that closed.
 *
 * @returns the excessive deletions in words; undefined if there are none
 */
export function excessOf(
  { removed, before, stored }: Removals,
  maxDeletions: ModeOptions["maxDeletions"],
): string | undefined {
  const allowed = maxDeletions ?? (stored === 0 ? 0 : allowedByDefault(before));
  if (removed <= allowed) return undefined;
  const isEmpty = stored === 0 && typeof maxDeletions !== "number";
  const limit = isEmpty ? " and store none, which only maxDeletions allows" : `, but maxDeletions allows ${allowed}`;
  return `remove ${removed} of ${before} products${limit}`;
}

function allowedByDefault(before: number): number {
  const share = Math.max(deletionsMin, Math.floor(before * deletionsShare));
  return Math.min(share, Math.ceil(before * deletionsShareMax));
}

/** @param excess the result of excessOf */
export function tooManyDeletions(excess: string): AppError {
  return errorAt("TOO_MANY_DELETIONS", `This import would ${excess}. Nothing was stored.`, ["maxDeletions"]);
}
