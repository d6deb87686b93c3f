import type { RootDatabase } from "../../../database/client.js";
import { withRawParameters } from "../../../database/rawParameters.js";
import { AppError, Problems } from "../../../errors.js";
import { Prisma } from "../../../generated/prisma/client.js";
import type { EncodedRows } from "../../product.columns.js";
import { rowColumns, sentRows } from "../../product.sql.js";
import { readAhead } from "../direct.js";
import { type ImportJob, importTimeoutMs, type ReadResult, throwIfDisconnected } from "../job.js";
import { rowsOf, type StagedKey } from "./apply.js";

/** Writes rows beside the catalog as they are read. @throws {AppError} UNAVAILABLE after too long */
export async function stage(
  db: RootDatabase,
  { storeId, importId }: StagedKey,
  { source, target: { siteId }, mode, signal }: ImportJob,
): Promise<ReadResult> {
  const deadline = performance.now() + importTimeoutMs;
  await db.$executeRaw`
    INSERT INTO "StagedImport" ("storeId", id, "siteId", "startedAt")
    VALUES (${storeId}, ${importId}, ${siteId ?? null}, ${new Date()}::timestamptz)`;
  const reader = source.read({ isPatch: mode === "PATCH" });
  try {
    let step = await reader.next();
    while (step.done !== true) {
      throwIfDisconnected(signal);
      if (performance.now() > deadline) throw new AppError("UNAVAILABLE", "The import took too long.");
      const next = readAhead(reader, step);
      await stageChunk(db, { storeId, importId }, step.value.columns);
      step = await next;
    }
    return step.value;
  } finally {
    await reader.return({ rows: 0, problems: new Problems() });
  }
}

async function stageChunk(db: RootDatabase, { storeId, importId }: StagedKey, columns: EncodedRows): Promise<void> {
  await withRawParameters(
    (bind) => db.$executeRaw`
      INSERT INTO "StagedProduct" ("storeId", "importId", ${rowColumns})
      SELECT ${storeId}, ${importId}, ${rowColumns} FROM ${sentRows(columns, bind)}`,
  );
}

/** Ids and skus. Staged rows do not change, so this needs no lock. */
export async function haveDistinctKeys(db: RootDatabase, key: StagedKey): Promise<boolean> {
  for (const column of [Prisma.sql`s.id`, Prisma.sql`s.sku`]) {
    const doubles = await db.$queryRaw<unknown[]>`
      SELECT 1 AS double FROM ${rowsOf(key)} WHERE ${column} IS NOT NULL
      GROUP BY ${column} HAVING count(*) > 1 LIMIT 1`;
    if (doubles.length > 0) return false;
  }
  return true;
}
