import type { Database } from "../../database/client.js";
import { isRowRefused } from "../../database/errors.js";
import { withRawParameters } from "../../database/rawParameters.js";
import { Problems } from "../../errors.js";
import type { LockCatalog } from "./catalogLock.js";
import {
  type ImportJob,
  type ImportTarget,
  type ProductChunk,
  type ProductSource,
  type ReadResult,
  stopIfGone,
} from "./job.js";
import { sentRows } from "../product.sql.js";
import { checkSkus, deferSkuCheck, tieToSite, type UpsertCounts, upsertProducts } from "../product.store.js";

/** The rows conflict or are invalid: the transaction must roll back, and another one find out why. */
export class RowsInDoubt extends Error {
  /** @param isCertain whether rows are invalid by themselves */
  constructor(readonly isCertain = false) {
    super();
  }
}

/**
 * Writes each chunk as it is read.
 *
 * @throws {RowsInDoubt} if rows conflict or are invalid
 */
export async function writeAsRead(
  transaction: Database,
  { target, source, signal }: ImportJob,
  lock: LockCatalog,
): Promise<UpsertCounts> {
  const reader = source.read();
  let stored = 0;
  let created = 0;
  try {
    let step = await validStep(reader.next());
    let next = readAhead(reader, step);
    const isWhole = step.done === true || (await validStep(next)).done === true;
    const now = await lock(transaction, isWhole ? "short" : "long");
    if (!isWhole) await deferSkuCheck(transaction);
    while (step.done !== true) {
      stopIfGone(signal);
      const counts = await writeChunk(transaction, target, step.value, { now, inOrder: isWhole });
      stored += counts.stored;
      created += counts.created;
      step = await validStep(next);
      next = readAhead(reader, step);
    }
    if (!isWhole) await refusedAsDoubt(checkSkus(transaction));
    return { stored, created };
  } finally {
    await reader.return({ rows: 0, problems: new Problems() });
  }
}

type Step = IteratorResult<ProductChunk, ReadResult>;

async function validStep(reading: Promise<Step>): Promise<Step> {
  const step = await reading;
  const isValid =
    step.done === true ? step.value.problems.total + (step.value.failed?.total ?? 0) === 0 : step.value.isValid;
  if (!isValid) throw new RowsInDoubt(true);
  return step;
}

export function readAhead(reader: ReturnType<ProductSource["read"]>, step: Step): Promise<Step> {
  if (step.done === true) return Promise.resolve(step);
  const next = reader.next();
  next.catch(() => undefined); // awaited later, unless writing fails first
  return next;
}

async function writeChunk(
  transaction: Database,
  target: ImportTarget,
  chunk: ProductChunk,
  { now, inOrder }: { now: string; inOrder: boolean },
): Promise<UpsertCounts> {
  const { storeId, siteId } = target;
  return withRawParameters(async (bind) => {
    const rows = sentRows(chunk.columns, bind);
    const kind = inOrder ? "sent, in the order of ids" : "sent";
    const counts = await refusedAsDoubt(upsertProducts(transaction, storeId, rows, now, kind));
    if (counts.stored !== chunk.rows) throw new RowsInDoubt();
    if (siteId !== undefined) await tieToSite(transaction, storeId, siteId, rows);
    return counts;
  });
}

async function refusedAsDoubt<Result>(statement: Promise<Result>): Promise<Result> {
  try {
    return await statement;
  } catch (error) {
    throw isRowRefused(error) ? new RowsInDoubt() : error;
  }
}
