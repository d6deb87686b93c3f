import { type AppError, errorAt } from "../../../errors.js";

/** How an import treats the products that it contains, and the others of the store. */
export type ImportMode = "UPSERT" | "PATCH" | "REPLACE";

export interface ModeOptions {
  /** UPSERT by default. */
  readonly mode?: ImportMode | null | undefined;
  /** With REPLACE. By default a tenth of the catalog, and at least 10. */
  readonly maxDeletions?: number | null | undefined;
}

const deletionsMin = 10;
const deletionsShare = 0.1;

/** @throws {AppError} VALIDATION_FAILED for a maxDeletions that is negative or of another mode */
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
}

/**
 * Refuses a feed that has lost its rows.
 *
 * @returns for a dry run, why the import would be refused, if so
 * @throws {AppError} TOO_MANY_DELETIONS
 */
export function guardDeletions(
  { removed, before }: Removals,
  { maxDeletions, dryRun }: Pick<ModeOptions, "maxDeletions"> & { readonly dryRun: boolean },
): string | undefined {
  const allowed = maxDeletions ?? Math.max(deletionsMin, Math.floor(before * deletionsShare));
  if (removed <= allowed) return undefined;
  if (dryRun) return `The import would be refused: it would remove ${limitsOf({ removed, before, allowed })}.`;
  throw tooManyDeletions({ removed, before, allowed });
}

export function tooManyDeletions(counts: Removals & { readonly allowed: number }): AppError {
  const message = `This import would remove ${limitsOf(counts)}. Nothing was stored.`;
  return errorAt("TOO_MANY_DELETIONS", message, ["maxDeletions"]);
}

function limitsOf({ removed, before, allowed }: Removals & { readonly allowed: number }): string {
  return `${removed} of ${before} products, but maxDeletions allows ${allowed}`;
}
