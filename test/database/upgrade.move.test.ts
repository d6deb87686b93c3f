import { cp, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { PoolConfig } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { deleteLiveStream } from "../../src/analytics/shows/liveStream.delete.js";
import { rebuildAnalytics } from "../../src/analytics/totals/rebuild.js";
import { migrationsFolder } from "../../src/database/migrations/applied.js";
import { smallEventRows } from "../../src/database/migrations/eventMove/tables.sql.js";
import { migrate } from "../../src/database/migrations/migrate.js";
import { connect } from "../../src/database/open.js";
import {
  dumpBeforeMove,
  earlierRecorder,
  firstMinute,
  openSession,
  type Query,
  recordWhileServed,
  restore,
  someEvent,
} from "../support/earlierVersion.js";
import { emptyDatabase } from "../support/ownDatabase.js";
import { figuresOf } from "../support/figures.js";
import { until } from "../support/process.js";
import { storedEventIds } from "../support/storedEvents.js";
import { givenDatabase } from "../support/database.js";

const { engine } = givenDatabase();
const quiet = () => undefined;
const show = { storeId: "acme", lsId: "summer sale" };

function openClient(connection: PoolConfig) {
  const database = connect(engine, connection, quiet);
  onTestFinished(() => database.close());
  return database.client;
}

/** Everything of the schema that a migration could make differently. */
async function schemaOf(of: Query) {
  return {
    columns: await of(`SELECT table_name, column_name, data_type, is_nullable, collation_name, column_default
      FROM information_schema.columns WHERE table_schema = 'public' ORDER BY 1, 2`),
    constraints:
      await of(`SELECT conrelid::regclass::text AS t, conname, pg_get_constraintdef(oid) AS d FROM pg_constraint
      WHERE connamespace = 'public'::regnamespace ORDER BY 1, 2`),
    indexes: await of(`SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1`),
    options: await of(
      `SELECT relname, reloptions FROM pg_class WHERE relnamespace = 'public'::regnamespace ORDER BY 1`,
    ),
    functions: await of(`SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace ORDER BY 1`),
    triggers: await of(`SELECT tgname FROM pg_trigger WHERE NOT tgisinternal`),
  };
}

/** The schema, the applied migrations, and all rows, those about presence by viewer and minute. */
async function contents(of: Query) {
  return {
    ...(await schemaOf(of)),
    migrations:
      await of(`SELECT migration_name, checksum, logs, rolled_back_at, applied_steps_count FROM _prisma_migrations
      WHERE finished_at IS NOT NULL ORDER BY 1`),
    shows: await of(`SELECT * FROM "LiveStream" ORDER BY "storeId", "id"`),
    events: await of(`SELECT * FROM "ShowEvent" ORDER BY "storeId", "show", "id"`),
    viewers:
      await of(`SELECT "storeId", "show", "viewerId", "seen", "newSeen", "newMinutes", "liveDevice", "replayDevice"
      FROM "ShowViewer" ORDER BY 1, 2, 3`),
    presence: await of(`SELECT "storeId", "show", "viewerId", "hour", "minutes"::text, "newMinutes" FROM (
        SELECT "storeId", "show", "viewerId", "hour", "minutes", "newMinutes" FROM "ShowViewer" WHERE "minutes" <> 0
        UNION ALL SELECT "storeId", "show", "viewerId", "hour", "minutes", "newMinutes" FROM "ShowPresence") AS p
      ORDER BY 1, 2, 3, 4`),
    products: await of(
      `SELECT * FROM "ShowProductSpan" ORDER BY "storeId", "show", "seconds", "startsAt", "productId"`,
    ),
  };
}

/** Runs the migrations on a database of that version. */
async function migrated(move: { fromEvents?: number; rowsMax?: number }) {
  const connection = await emptyDatabase(`upgradeby${move.rowsMax ?? 0}`);
  const query = await restore(connection, dumpBeforeMove);
  await query(`DELETE FROM "ShopperEvent" WHERE "liveStreamId" = 'pruned'`); // what an interrupted pruning left is not moved
  await migrate(connection, quiet, { move });
  return contents(query);
}

test("the migration in batches leaves the tables, rows and entry that it leaves at once", async () => {
  const inBatches = await migrated({ fromEvents: 1, rowsMax: 7 });
  expect(inBatches).toEqual(await migrated({}));
  expect(inBatches.events.length).toBeGreaterThan(200);
});

test("the previous version records while events are moved, and nothing is lost or counted twice", async () => {
  const connection = await emptyDatabase("upgradewhile");
  const query = await restore(connection, dumpBeforeMove);
  const record = await earlierRecorder(query);
  for (let from = 0; from < 1_000; from += 100) {
    const events = Array.from({ length: 100 }, (_, index) => someEvent("before", from + index));
    await record(show.storeId, show.lsId, events);
  }
  const before = (await query(`SELECT FROM "ShopperEvent" WHERE "storeId" = 'acme' AND "liveStreamId" = 'summer sale'`))
    .length;

  const writers = ["a", "b"].map((label) => recordWhileServed(connection, show, label));
  const changes = (async () => {
    const own = await openSession(connection);
    await until(async () => (await own(`SELECT to_regclass('"EventMove"') IS NOT NULL AS begun`))[0].begun, "the move");
    await own(
      `INSERT INTO "LiveStream" ("storeId", "id", "name", "status", "startedAt") VALUES ('best', 'new', 'New', 'LIVE', $1)`,
      [new Date(firstMinute)],
    );
    await (
      await earlierRecorder(own)
    )("best", "new", [someEvent("new", 1), someEvent("new", 3)]);
    // A show is pruned, and another deleted and made again, as that version does
    await own(`UPDATE "LiveStream" SET "status" = 'ARCHIVED', "prunedAt" = now() WHERE "id" = 'ended'`);
    for (const table of ["ShopperEvent", "LiveStreamViewer", "LiveStreamCartViewer", "LiveStreamPresence"]) {
      await own(
        `DELETE FROM "${table}" WHERE "liveStreamId" = 'ended' OR "storeId" = 'best' AND "liveStreamId" = 'summer sale'`,
      );
    }
    await own(`DELETE FROM "LiveStream" WHERE "storeId" = 'best' AND "id" = 'summer sale'`);
    for (const table of ["Total", "Device", "Minute", "Span", "Product"]) {
      await own(`DELETE FROM "LiveStream${table}" WHERE "storeId" = 'best' AND "liveStreamId" = 'summer sale'`);
    }
    await own(
      `INSERT INTO "LiveStream" ("storeId", "id", "name", "status", "startedAt") VALUES ('best', 'summer sale', 'Again', 'LIVE', $1)`,
      [new Date(firstMinute)],
    );
  })();
  await migrate(connection, quiet, { move: { fromEvents: 1, rowsMax: 100 } });
  await changes;
  const confirmed = (await Promise.all(writers)).flat();
  expect(confirmed.length).toBeGreaterThan(50);

  const db = openClient(connection);
  const stored = await storedEventIds(db, show);
  expect(stored.length).toBe(before + confirmed.length);
  expect(stored).toEqual(expect.arrayContaining(confirmed));
  expect(await storedEventIds(db, { storeId: "best", lsId: "new" })).toEqual(["new 1", "new 3"]);
  const rest = `SELECT count(*)::int AS n FROM "ShowEvent" AS e JOIN "LiveStream" AS s ON s."storeId" = e."storeId" AND s."number" = e."show"`;
  expect(await query(`${rest} WHERE s."id" = 'ended' OR s."name" = 'Again'`), "pruned and deleted").toEqual([{ n: 0 }]);
  const [{ all }] = await query(`SELECT count(*)::int AS all FROM "ShowEvent"`);
  expect(await query(rest), "no event is of a show that is gone").toEqual([{ n: all }]);
  const figures = await figuresOf(db, show);
  await rebuildAnalytics(db, show.storeId, show.lsId);
  expect(await figuresOf(db, show)).toEqual(figures);
  await deleteLiveStream(db, show.storeId, show.lsId, { force: true });
});

async function migrationsBefore(name: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "vt-migrations-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await cp(migrationsFolder, folder, {
    recursive: true,
    filter: (path) => !/^\d/u.test(basename(path)) || basename(path) < name,
  });
  return folder;
}

/** A move that has stopped before it replaces anything, since the previous version has lost a viewer of a show. */
async function stoppedMove(label: string) {
  const connection = await emptyDatabase(label);
  const query = await restore(connection, dumpBeforeMove);
  await migrate(connection, quiet, { folder: await migrationsBefore(smallEventRows) });
  const before = await schemaOf(query);
  const [lost] =
    await query(`DELETE FROM "LiveStreamViewer" WHERE "storeId" = 'acme' AND "liveStreamId" = 'ended' AND "channel" = 'LIVE'
    AND ctid = (SELECT min(ctid) FROM "LiveStreamViewer" WHERE "liveStreamId" = 'ended' AND "channel" = 'LIVE') RETURNING *`);
  const run = () => migrate(connection, quiet, { move: { fromEvents: 1, rowsMax: 50 } });
  await expect(run()).rejects.toThrow(
    /The show ended of the store acme has other figures in the copied events: viewers \d+ and \d+\. The old tables stay in use/u,
  );
  await query(`INSERT INTO "LiveStreamViewer" VALUES ($1, $2, $3, $4, $5)`, [
    lost.storeId,
    lost.liveStreamId,
    lost.channel,
    lost.viewerId,
    lost.device,
  ]);
  return { connection, query, before, run };
}

test("a show whose rows about viewers are wrong stops the move, and a rebuild by the previous version lets it go on", async () => {
  const { run } = await stoppedMove("upgradewrong");
  expect(await run()).toContain(smallEventRows);
});

test("a move that was given up as the documentation says has left nothing, while the previous version goes on, and can begin anew", async () => {
  const { connection, query, before, run } = await stoppedMove("upgradegivenup");
  const record = await earlierRecorder(await openSession(connection));
  const events = (label: string) => Array.from({ length: 10 }, (_, n) => someEvent(label, n));
  expect(await record(show.storeId, show.lsId, events("begun"))).toBe(10);
  expect(await schemaOf(query)).not.toEqual(before);

  const page = await readFile(new URL("../../docs/operations.md", import.meta.url), "utf8");
  const [, statements = ""] = /<<'SQL'\n(BEGIN;\n[^`]*"queueMovedEvents"[^`]*COMMIT;\n)SQL\n/u.exec(page) ?? [];
  await query(statements);
  expect(await schemaOf(query)).toEqual(before);
  expect(await record(show.storeId, show.lsId, events("given up"))).toBe(10);

  expect(await run()).toContain(smallEventRows);
  const stored = await storedEventIds(openClient(connection), show);
  for (const { id } of [...events("begun"), ...events("given up")]) expect(stored).toContain(id);
});
