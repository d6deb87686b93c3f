import type { Database, RootDatabase } from "../../../database/client.js";
import { isRowRefused } from "../../../database/databaseErrors.js";
import { withRawParameters } from "../../../database/rawParameters.js";
import { validationFailed } from "../../../errors.js";
import { patchedFields, patchProducts } from "../../product/product.patch.js";
import { sentRows } from "../../product/product.sql.js";
import type { ProductChunk, RowKeys } from "../../../files/chunk.js";
import { rowProblemsMax } from "../../../files/rowChecks.js";
import { nothingDeleted } from "../check.js";
import { transact } from "../commit.js";
import {
  type AcceptedLines,
  type Chunks,
  type ImportJob,
  type ReadResult,
  throwIfDisconnected,
} from "../importTypes.js";
import { contradict } from "./invalid.js";
import { removeOthers } from "../modes/replace.js";
import { type ImportFailures, type ImportResult, importResult, type Written } from "../result.js";
import { withoutNestedLoops } from "../staging/rows.js";
import { assignToSite, assignWritten, isCatalogEmpty, type UpsertKind, upsertProducts } from "../upsert.js";

interface Stored {
  /** Whether there are several chunks, so that no other import of the store may run at the same time. */
  readonly isLong: boolean;
  /** Called for each attempt of the transaction. Undefined if they cannot be read again. */
  readonly chunks: () => Chunks | undefined;
}

/**
 * Stores chunks as they arrive, in one transaction that locks the catalog. Only the catalog's constraints detect what is wrong.
 *
 * @returns undefined if a row is refused, or is invalid in an import with REJECT_ALL: then nothing was stored
 * @throws {AppError} TOO_MANY_DELETIONS; VALIDATION_FAILED if the file as a whole is invalid
 */
export function storeChunks(
  db: RootDatabase,
  job: ImportJob,
  { isLong, chunks }: Stored,
): Promise<ImportResult | undefined> {
  const use = isLong ? "long" : job.mode === "UPSERT" ? "short" : "short, exclusive";
  return transact(db, job, isLong, async (transaction, lock) => {
    const now = await lock(transaction, use);
    const given = chunks();
    if (given === undefined) return undefined;
    try {
      const written = await writeChunks(transaction, job, { isLong, now, chunks: given });
      return written && importResult(written, job);
    } catch (error) {
      if (isRowRefused(error)) return undefined;
      throw error;
    }
  });
}

interface Writing {
  readonly isLong: boolean;
  /** The time of the import, from `lock`. */
  readonly now: string;
  readonly chunks: Chunks;
}

async function writeChunks(transaction: Database, job: ImportJob, writing: Writing): Promise<Written | undefined> {
  const { target, mode, errorPolicy } = job;
  const rows = await writeRows(transaction, job, writing);
  if (rows === undefined) return undefined;
  const { read, invalid, stored, created, assigned } = rows;
  if (read.problems.total > 0) {
    if (errorPolicy === "REJECT_FAILED") throw validationFailed(read.problems);
    return undefined;
  }
  const { now } = writing;
  if (invalid.length > 0 || mode === "REPLACE") await withoutNestedLoops(transaction);
  if (invalid.length > 0 && (await contradict(transaction, target.storeId, invalid, now))) return undefined;
  if (mode === "PATCH") await assignWritten(transaction, target, now);
  const written = { stored, created, failures: failuresOf(job, read, invalid) };
  if (mode !== "REPLACE") return written;
  if (written.failures.total > invalid.length) return { ...written, deleted: 0, remark: nothingDeleted };
  const added = target.siteId === undefined ? created : assigned;
  return { ...written, deleted: await removeOthers(transaction, job, { now, stored, added, kept: invalid }) };
}

interface WrittenRows {
  readonly read: ReadResult;
  readonly invalid: readonly RowKeys[];
  readonly stored: number;
  readonly created: number;
  /** Products that were not assigned to the site before. */
  readonly assigned: number;
}

async function writeRows(
  transaction: Database,
  { target, mode, errorPolicy, signal, acceptedLines }: ImportJob,
  { isLong, now, chunks }: Writing,
): Promise<WrittenRows | undefined> {
  const kind = await kindOf(transaction, { target, mode }, isLong);
  acceptedLines?.clear(); // an earlier attempt may have filled it
  const invalid: RowKeys[] = [];
  let [stored, created, assigned] = [0, 0, 0];
  for (;;) {
    const step = await chunks.next();
    throwIfDisconnected(signal);
    if (step.done === true) return { read: step.value, invalid, stored, created, assigned };
    const chunk = step.value;
    if (chunk.invalid.length > 0 && errorPolicy === "REJECT_ALL") return undefined;
    for (const row of chunk.invalid) invalid.push(row);
    const counts = await writeChunk(transaction, { target, mode, kind, now }, chunk);
    if (counts.stored !== chunk.rows) return undefined;
    stored += counts.stored;
    created += counts.created;
    assigned += counts.assigned;
    if (acceptedLines !== undefined) noteLines(acceptedLines, chunk);
  }
}

/** Only upserts need to know whether the catalog is empty. */
async function kindOf(
  transaction: Database,
  { target, mode }: Pick<ImportJob, "target" | "mode">,
  isLong: boolean,
): Promise<UpsertKind> {
  if (!isLong) return "upsert, ordered";
  return mode !== "PATCH" && (await isCatalogEmpty(transaction, target.storeId)) ? "insert" : "upsert";
}

interface ChunkWriting extends Pick<ImportJob, "target" | "mode"> {
  readonly kind: UpsertKind;
  readonly now: string;
}

/** @returns how many products were stored: fewer than rows if one is refused */
async function writeChunk(
  transaction: Database,
  { target: { storeId, siteId }, mode, kind, now }: ChunkWriting,
  { rows: count, columns }: ProductChunk,
): Promise<Pick<WrittenRows, "stored" | "created" | "assigned">> {
  if (count === 0) return { stored: 0, created: 0, assigned: 0 };
  return withRawParameters(async (bind) => {
    const rows = sentRows(columns, bind);
    if (mode === "PATCH") {
      const { stored, mispriced } = await patchProducts(transaction, storeId, rows, { ...patchedFields(columns), now });
      return { stored: stored - mispriced, created: 0, assigned: 0 };
    }
    const counts = await upsertProducts(transaction, storeId, rows, now, kind);
    const assigned = siteId === undefined ? 0 : await assignToSite(transaction, { storeId, siteId }, rows);
    return { ...counts, assigned };
  });
}

function noteLines(lines: AcceptedLines, { rows, columns }: ProductChunk): void {
  if (rows > 0) for (const line of columns.line.slice(1, -1).split(",")) lines.add(Number(line));
}

function failuresOf({ source }: ImportJob, { failed }: ReadResult, invalid: readonly RowKeys[]): ImportFailures {
  const { list, total } = failed ?? { list: [], total: 0 };
  const keys = new Map(invalid.map((row) => [row.line, row]));
  const listed = list.map(({ line, problems, problemsTotal }) => {
    const { id = null, sku = null } = keys.get(line) ?? {};
    return { ...source.positionOf(line), id, sku, problems: problems.slice(0, rowProblemsMax), problemsTotal };
  });
  return { list: listed, total };
}
