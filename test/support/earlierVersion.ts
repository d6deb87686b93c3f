import { readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import pg, { type PoolConfig } from "pg";
import { onTestFinished } from "vitest";

const folder = new URL("../database/upgrade/", import.meta.url);

/**
 * Each file is a dump of a database that an earlier version has filled, named for its last migration: shows with events of all
 * kinds, ids that look like UUIDs, and a show whose events were pruned. Made by `pg_dump --inserts --no-owner`; a version that
 * changes how something is stored adds one of the previous version.
 */
export const dumps: readonly string[] = readdirSync(folder).filter((name) => name.endsWith(".sql"));

type Query = (sql: string, values?: readonly unknown[]) => Promise<any[]>;

/** A session of the test's own. */
async function openSession(connection: PoolConfig): Promise<Query> {
  const client = new pg.Client(connection);
  client.on("error", () => undefined);
  await client.connect();
  onTestFinished(() => client.end().catch(() => undefined));
  return async (sql, values) => (await client.query(sql, values === undefined ? undefined : [...values])).rows;
}

/** Fills an empty database. @returns a session of it */
export async function restore(connection: PoolConfig, dump: string): Promise<Query> {
  const query = await openSession(connection);
  await query(await readFile(new URL(dump, folder), "utf8"));
  return query;
}
