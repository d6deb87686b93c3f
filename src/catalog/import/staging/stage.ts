import { randomUUID } from "node:crypto";
import type { RootDatabase } from "../../../database/client.js";
import { withRawParameters } from "../../../database/rawParameters.js";
import { storeClientOf } from "../../../database/shares/caller.js";
import { queryStore, retryAfterMoves } from "../../../database/sql/storeStatements.js";
import { AppError } from "../../../errors.js";
import { Prisma } from "../../../generated/prisma/client.js";
import { type EncodedRows, encodeRows } from "../../../files/product/product.columns.js";
import { rowColumns, sentColumns, sentRows } from "../../product/product.sql.js";
import { type Chunks, type ImportTarget, importTimeoutMs, throwIfDisconnected } from "../importTypes.js";
import { removeStaged } from "./recover.js";
import type { StagedKey, StagedRows } from "./rows.js";

/** The rows of one import outside of the catalog. Separate statements write them, so that nothing stays locked. */
export class Staging {
  readonly key: StagedKey;
  #rows = 0;
  #hasBegun = false;

  constructor(
    private readonly db: RootDatabase,
    private readonly target: ImportTarget,
  ) {
    this.key = { storeId: target.storeId, importId: randomUUID() };
  }

  /** @throws {AppError} UNAVAILABLE after too long, or when the client has disconnected */
  async addAll(chunks: Chunks, signal?: AbortSignal): Promise<StagedRows> {
    const deadline = performance.now() + importTimeoutMs;
    await this.#begin();
    let step = await chunks.next();
    for (; step.done !== true; step = await chunks.next()) {
      throwIfDisconnected(signal);
      if (performance.now() > deadline) throw new AppError("UNAVAILABLE", "The import took too long.");
      const { rows, columns, invalid } = step.value;
      if (rows > 0) await this.#add(rows, columns);
      if (invalid.length > 0) {
        await this.#add(invalid.length, encodeRows(invalid.map(({ line, ...product }) => ({ line, product }))));
      }
    }
    throwIfDisconnected(signal);
    return { kind: "staged", key: this.key, rows: this.#rows, read: step.value };
  }

  async #begin(): Promise<void> {
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

  async #add(rows: number, columns: EncodedRows): Promise<void> {
    const { storeId, importId } = this.key;
    this.#rows += rows;
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

  /** If this fails, recoverImports does it later. It keeps accepted imports. */
  async end(): Promise<void> {
    if (this.#hasBegun) await removeStaged(storeClientOf(this.db), this.key).catch(() => undefined);
  }
}
