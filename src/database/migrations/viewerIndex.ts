import pg from "pg";
import type { OpenDatabase } from "../open.js";

const connectTimeoutMs = 5_000;

/**
 * Creates the index of events by viewer, unless it exists. It is not part of the schema, because recording events takes an eighth
 * longer with it, and only rules of attribution other than AS_SENT use it. Events can be recorded while it is created, except on
 * the embedded engine, which has only one session.
 */
export async function createViewerIndex({
  connection,
  engine,
}: Pick<OpenDatabase, "connection" | "engine">): Promise<void> {
  const client = new pg.Client({ ...connection, connectionTimeoutMillis: connectTimeoutMs });
  client.on("error", () => undefined);
  await client.connect();
  try {
    const isEmbedded = engine.kind === "embedded";
    if (!isEmbedded) await client.query("SET statement_timeout = 0");
    const { rows } = await client.query<{ indisvalid: boolean }>(
      `SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('"ShowEvent_viewer_idx"')`,
    );
    const [existing] = rows;
    if (existing?.indisvalid === true) return;
    const how = isEmbedded ? "" : "CONCURRENTLY";
    // An interrupted CREATE INDEX CONCURRENTLY leaves an index that is maintained but not used.
    if (existing !== undefined)
      await client.query(`/* viewer_index */ DROP INDEX ${how} IF EXISTS "ShowEvent_viewer_idx"`);
    await client.query(
      `/* viewer_index */ CREATE INDEX ${how} IF NOT EXISTS "ShowEvent_viewer_idx" ON "ShowEvent" ("storeId", "viewerId") WHERE type < 3`,
    );
  } finally {
    await client.end();
  }
}
