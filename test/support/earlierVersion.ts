import { readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import pg, { type PoolConfig } from "pg";
import { expect, onTestFinished } from "vitest";
import { distribute } from "../../src/database/migrations/distribute.js";
import { fakeCitus } from "./citus/fakeCitus.js";

const folder = new URL("../database/upgrade/", import.meta.url);

/**
 * Each file is a dump of a database that an earlier version has filled, named for its last migration: shows with events of all
 * kinds, ids that look like UUIDs, and a show whose events were pruned. Made by `pg_dump --inserts --no-owner`; a version that
 * changes how something is stored adds one of the previous version.
 */
export const dumps: readonly string[] = readdirSync(folder).filter((name) => name.endsWith(".sql"));

/** The version before small_event_rows. */
export const dumpBeforeMove = "20261122144000.sql";

export type Query = (sql: string, values?: readonly unknown[]) => Promise<any[]>;

/** A session of the test's own. */
export async function openSession(connection: PoolConfig): Promise<Query> {
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

/** Has a database of an earlier version distributed by what stands in for Citus: all of its tables are one piece. */
export async function distributeEarlier(connection: PoolConfig, query: Query): Promise<void> {
  await query(fakeCitus);
  await distribute(connection, () => undefined);
}

/** Multiplies the events of all shows but the pruned one, with new ids, as the previous version would have stored them. */
export async function multiplyEvents(query: Query, times: number): Promise<void> {
  await query(`
    INSERT INTO "ShopperEvent" SELECT e."storeId", e."liveStreamId", n || ' ' || e."id", e."type", e."channel", e."viewerId", e."device",
      e."seconds", e."amount", e."productId", e."occurredAt", e."acceptedAt", e."position"
    FROM "ShopperEvent" AS e, generate_series(1, ${times}) AS n`);
}

export interface EarlierEvent {
  readonly id: string;
  readonly type: string;
  readonly channel: string;
  readonly viewerId?: string;
  readonly device?: string;
  readonly seconds?: number;
  readonly amount?: number;
  readonly productId?: string;
  readonly occurredAt: Date;
}

/** Records as the version before small_event_rows did: by its statement. @returns how many events were new */
export async function earlierRecorder(query: Query) {
  const statement = await readFile(new URL("statements/record.20261122144000.sql", folder), "utf8");
  let slot = 0;
  return async (storeId: string, lsId: string, events: readonly EarlierEvent[]): Promise<number> => {
    const column = (name: keyof EarlierEvent) => events.map((event) => event[name] ?? null);
    const [row] = await query(statement, [
      storeId,
      lsId,
      (slot = (slot + 1) % 16),
      new Date(),
      null,
      column("id"),
      column("type"),
      column("channel"),
      column("viewerId"),
      column("device"),
      column("seconds"),
      column("amount"),
      column("productId"),
      column("occurredAt"),
    ]);
    if (row?.hasLock !== true) throw new Error(`Nothing was recorded for ${lsId}.`);
    return row.accepted;
  };
}

export const firstMinute = Date.parse("2026-05-04T18:30:00Z");

export function someEvent(label: string, n: number): EarlierEvent {
  const type = ["VIEW", "ADD_TO_CART", "ORDER"][n % 3] ?? "VIEW";
  return {
    id: `${label} ${n}`,
    type,
    channel: n % 2 === 0 ? "LIVE" : "REPLAY",
    ...(type !== "ORDER" && { viewerId: `viewer ${n % 37}`, device: "mobile" }),
    ...(type === "VIEW" && { seconds: n % 60 }),
    ...(type === "ORDER" && { amount: n / 100 }),
    productId: "p1",
    occurredAt: new Date(firstMinute + (n % 200) * 60_000),
  };
}

/** Records batches, half of each again, until the tables of that version are gone. @returns the ids that were confirmed */
export async function recordWhileServed(
  connection: PoolConfig,
  show: { storeId: string; lsId: string },
  label: string,
): Promise<string[]> {
  const record = await earlierRecorder(await openSession(connection));
  const confirmed: string[] = [];
  for (let from = 0; ; from += 5) {
    const events = Array.from({ length: 10 }, (_, index) => someEvent(label, from + index));
    try {
      const accepted = await record(show.storeId, show.lsId, events);
      expect(accepted, "half of them are known").toBe(from === 0 ? 10 : 5);
    } catch (error) {
      expect(error).toMatchObject({ code: "42P01" }); // ShopperEvent does not exist
      return confirmed;
    }
    confirmed.push(...events.slice(from === 0 ? 0 : 5).map(({ id }) => id));
    await sleep(20);
  }
}
