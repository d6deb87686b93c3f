import type { Database } from "../../database/client.js";
import { isRowRefused } from "../../database/errors.js";
import { withRawParameters } from "../../database/rawParameters.js";
import { AppError, Problems } from "../../errors.js";
import type { LockCatalog } from "./catalogLock.js";
import {
  type ImportJob,
  type ImportTarget,
  type ProductChunk,
  type ProductSource,
  type ReadResult,
  throwIfDisconnected,
  throwIfTooManyProblems,
} from "./job.js";
import { type Removed, removeNotWritten } from "./modes/replace.js";
import type { Written } from "./result.js";
import { patchedFields, patchProducts } from "../product.patch.js";
import { sentRows } from "../product.sql.js";
import {
  assignToSite,
  assignWritten,
  checkSkus,
  deferSkuCheck,
  hasSharedSku,
  isCatalogEmpty,
  type UpsertCounts,
  type UpsertKind,
  upsertProducts,
} from "../product.store.js";

/** The rows conflict or are invalid: the transaction must roll back, and a full check in a new one finds every problem. */
export class FullCheckNeeded extends Error {
  /** @param hasInvalidRows by themselves, without conflicts */
  constructor(readonly hasInvalidRows = false) {
    super();
  }
}

type Reader = ReturnType<ProductSource["read"]>;

/** A reading whose first chunk is there, and a second one where there is one. */
export interface StartedReading {
  readonly reader: Reader;
  readonly first: Step;
  readonly second: Promise<Step>;
  /** Whether the first chunk is all. */
  readonly isWhole: boolean;
}

/** @throws as `writeDirectly` */
export async function startReading({ source, mode }: ImportJob): Promise<StartedReading> {
  const reader = source.read({ isPatch: mode === "PATCH" });
  try {
    const first = await validStep(reader.next());
    const second = readAhead(reader, first);
    return { reader, first, second, isWhole: first.done === true || (await validStep(second)).done === true };
  } catch (error) {
    await endReading(reader);
    throw error;
  }
}

export async function endReading(reader: Reader): Promise<void> {
  await reader.return({ rows: 0, problems: new Problems() });
}

/**
 * @throws {FullCheckNeeded} if rows conflict or are invalid
 * @throws {AppError} TOO_MANY_DELETIONS, or VALIDATION_FAILED where far too many values are invalid
 */
export async function writeDirectly(
  transaction: Database,
  job: ImportJob,
  lock: LockCatalog,
  started?: StartedReading,
): Promise<Written> {
  const { target, signal } = job;
  const replaces = job.mode === "REPLACE";
  const isAlone = job.mode !== "UPSERT";
  const { reader, first, second, isWhole } = started ?? (await startReading(job));
  let [stored, created, assigned] = [0, 0, 0];
  let [step, next] = [first, second];
  try {
    const now = await lock(transaction, isWhole ? (isAlone ? "short, exclusive" : "short") : "long");
    const defersSkus = !isWhole || replaces;
    if (defersSkus) await deferSkuCheck(transaction);
    const kind = isWhole ? "upsert, ordered" : await kindOfLong(transaction, job);
    while (step.done !== true) {
      throwIfDisconnected(signal);
      const counts =
        job.mode === "PATCH"
          ? await patchChunk(transaction, target, step.value, now)
          : await writeChunk(transaction, target, step.value, { now, kind });
      stored += counts.stored;
      created += counts.created;
      assigned += counts.assigned;
      step = await validStep(next);
      next = readAhead(reader, step);
    }
    if (job.mode === "PATCH") await assignWritten(transaction, target, now);
    const kept = stored - (target.siteId === undefined ? created : assigned);
    const removed = replaces ? await removeOthers(transaction, job, { now, stored, kept, isShort: isWhole }) : {};
    if (defersSkus) await asFullCheckNeeded(checkSkus(transaction));
    return { stored, created, ...removed };
  } finally {
    await endReading(reader);
  }
}

type Step = IteratorResult<ProductChunk, ReadResult>;

async function validStep(reading: Promise<Step>): Promise<Step> {
  const step = await reading;
  if (step.done === true) throwIfTooManyProblems(step.value);
  const faults = step.done === true ? step.value.problems.total + (step.value.failed?.total ?? 0) : step.value.faults;
  if (faults > 0) throw new FullCheckNeeded(true);
  return step;
}

export function readAhead(reader: Reader, step: Step): Promise<Step> {
  if (step.done === true) return Promise.resolve(step);
  const next = reader.next();
  next.catch(() => undefined); // awaited later, unless writing fails first
  return next;
}

async function kindOfLong(transaction: Database, { target, mode }: ImportJob): Promise<UpsertKind> {
  return mode !== "PATCH" && (await isCatalogEmpty(transaction, target.storeId)) ? "insert" : "upsert";
}

async function writeChunk(
  transaction: Database,
  target: ImportTarget,
  chunk: ProductChunk,
  { now, kind }: { now: string; kind: UpsertKind },
): Promise<UpsertCounts & { readonly assigned: number }> {
  const { storeId, siteId } = target;
  return withRawParameters(async (bind) => {
    const rows = sentRows(chunk.columns, bind);
    const counts = await asFullCheckNeeded(upsertProducts(transaction, storeId, rows, now, kind));
    if (counts.stored !== chunk.rows) throw new FullCheckNeeded();
    const assigned = siteId === undefined ? 0 : await assignToSite(transaction, { storeId, siteId }, rows, "sent");
    return { ...counts, assigned };
  });
}

async function patchChunk(
  transaction: Database,
  { storeId }: ImportTarget,
  chunk: ProductChunk,
  now: string,
): Promise<UpsertCounts & { readonly assigned: number }> {
  return withRawParameters(async (bind) => {
    const rows = sentRows(chunk.columns, bind);
    const patch = patchProducts(transaction, storeId, rows, { ...patchedFields(chunk.columns), now });
    const { stored, mispriced } = await asFullCheckNeeded(patch);
    if (stored !== chunk.rows || mispriced > 0) throw new FullCheckNeeded();
    return { stored, created: 0, assigned: 0 };
  });
}

/**
 * Removes what was not written. A row that shares its sku with another product fails, and what it names is kept, so that
 * too many deletions are certain only where there is no such row.
 *
 * @throws {FullCheckNeeded} where too many would be deleted and there is such a row
 * @throws {AppError} TOO_MANY_DELETIONS
 */
async function removeOthers(
  transaction: Database,
  job: ImportJob,
  written: Parameters<typeof removeNotWritten>[2],
): Promise<Removed> {
  try {
    return await removeNotWritten(transaction, job, written);
  } catch (error) {
    const isTooMuch = error instanceof AppError && error.code === "TOO_MANY_DELETIONS";
    if (isTooMuch && (await hasSharedSku(transaction, job.target.storeId, written.now))) throw new FullCheckNeeded();
    throw error;
  }
}

async function asFullCheckNeeded<Result>(statement: Promise<Result>): Promise<Result> {
  try {
    return await statement;
  } catch (error) {
    throw isRowRefused(error) ? new FullCheckNeeded() : error;
  }
}
