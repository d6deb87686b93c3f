import { randomUUID } from "node:crypto";
import type { RootDatabase } from "../../../database/client.js";
import { withRawParameters } from "../../../database/rawParameters.js";
import { storeClientOf } from "../../../database/shares/caller.js";
import { queryStore, retryAfterMoves } from "../../../database/sql/storeStatements.js";
import { AppError, Problems } from "../../../errors.js";
import { Prisma } from "../../../generated/prisma/client.js";
import { type EncodedRows, encodeRows } from "../../product/product.columns.js";
import { rowColumns, sentColumns, sentRows } from "../../product/product.sql.js";
import {
  type ImportJob,
  type ImportTarget,
  importTimeoutMs,
  type ProductSource,
  type ReadResult,
  throwIfDisconnected,
} from "../job.js";
import { findEarlierAnswer } from "../idempotency/once.js";
import { removeStaged } from "./recover.js";
import type { ImportResult } from "../result.js";
import type { SentRows, StagedKey, StagedRows } from "./rows.js";

/** The answer of an earlier request with this idempotency key. */
interface Answered {
  readonly kind: "answered";
  readonly answer: ImportResult;
}

/**
 * Reads the rows of an import, once and outside of any transaction. A single chunk that may be stored as it is stays in memory;
 * everything else is staged while it is read, unless an earlier request with its key was answered.
 *
 * @throws {AppError} UNAVAILABLE after too long, or when the client has disconnected
 */
export async function readRows(
  db: RootDatabase,
  job: ImportJob,
  staging: Staging,
): Promise<SentRows | StagedRows | Answered> {
  const reader = job.source.read({ isPatch: job.mode === "PATCH" });
  try {
    const first = await reader.next();
    throwIfDisconnected(job.signal);
    const second = readAhead(reader, first);
    const sent = sentWhole(job, first, await second);
    if (sent !== undefined) return sent;
    const { target, idempotency } = job;
    const answer = idempotency && (await findEarlierAnswer(db, target.storeId, idempotency));
    if (answer !== undefined) return { kind: "answered", answer };
    return await stageAll(job, staging, { reader, first, second });
  } finally {
    await reader.return({ rows: 0, problems: new Problems() });
  }
}

type Reader = ReturnType<ProductSource["read"]>;
type Step = Awaited<ReturnType<Reader["next"]>>;

/** REPLACE and dry runs compare all rows with the catalog, as do imports with invalid rows. */
function sentWhole({ mode, dryRun }: ImportJob, first: Step, second: Step): SentRows | undefined {
  if (second.done !== true || mode === "REPLACE" || dryRun || hasFaults(second.value)) return undefined;
  const { columns, rows } = first.done === true ? { columns: encodeRows([]), rows: 0 } : first.value;
  return { kind: "sent", columns, rows, read: second.value };
}

/** Whether rows are invalid by themselves. */
export function hasFaults({ problems, failed }: ReadResult): boolean {
  return problems.total > 0 || (failed?.total ?? 0) > 0;
}

async function stageAll(
  { signal }: ImportJob,
  staging: Staging,
  { reader, first, second }: { readonly reader: Reader; readonly first: Step; readonly second: Promise<Step> },
): Promise<StagedRows> {
  const deadline = performance.now() + importTimeoutMs;
  await staging.begin();
  let [step, next] = [first, second];
  while (step.done !== true) {
    throwIfDisconnected(signal);
    if (performance.now() > deadline) throw new AppError("UNAVAILABLE", "The import took too long.");
    await staging.add(step.value);
    step = await next;
    next = readAhead(reader, step);
  }
  throwIfDisconnected(signal);
  return { kind: "staged", key: staging.key, rows: staging.rows, read: step.value };
}

function readAhead(reader: Reader, step: Step): Promise<Step> {
  if (step.done === true) return Promise.resolve(step);
  const next = reader.next();
  next.catch(() => undefined); // awaited later, unless staging fails first
  return next;
}

/** The rows of one import, outside of the catalog, written by statements of their own: nothing is locked meanwhile. */
export class Staging {
  rows = 0;
  readonly key: StagedKey;
  #hasBegun = false;

  constructor(
    private readonly db: RootDatabase,
    private readonly target: ImportTarget,
  ) {
    this.key = { storeId: target.storeId, importId: randomUUID() };
  }

  async begin(): Promise<void> {
    const { storeId, importId } = this.key;
    this.#hasBegun = true;
    const statement = Prisma.sql`
      WITH begun AS (
        INSERT INTO "StagedImport" ("storeId", id, "siteId", "startedAt")
        SELECT o.id, ${importId}, ${this.target.siteId ?? null}, ${new Date()}::timestamptz
        FROM "Store" AS o WHERE o.id = ${storeId}
        RETURNING 1)
      SELECT count(*)::int AS imports FROM begun`;
    await retryAfterMoves(this.db, storeId, () => queryStore(this.db, storeId, statement));
  }

  async add({ rows, columns }: { readonly rows: number; readonly columns: EncodedRows }): Promise<void> {
    const { storeId, importId } = this.key;
    this.rows += rows;
    await withRawParameters(async (bind) => {
      const statement = Prisma.sql`/* product_stage */
        WITH staged AS (
          INSERT INTO "StagedProduct" ("storeId", "importId", ${rowColumns})
          SELECT o.id, ${importId}, ${sentColumns}
          FROM "Store" AS o, ${sentRows(columns, bind)} WHERE o.id = ${storeId}
          RETURNING 1)
        SELECT count(*)::int AS rows FROM staged`;
      await retryAfterMoves(this.db, storeId, () => queryStore(this.db, storeId, statement));
    });
  }

  /** Stages rows that were sent, and need a check. */
  async addAll({ columns, rows, read }: SentRows): Promise<StagedRows> {
    await this.begin();
    await this.add({ columns, rows });
    return { kind: "staged", key: this.key, rows, read };
  }

  /** If this fails, recoverImports does it later; it leaves accepted imports. */
  async end(): Promise<void> {
    if (this.#hasBegun) await removeStaged(storeClientOf(this.db), this.key).catch(() => undefined);
  }
}
