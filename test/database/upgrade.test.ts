// @engine postgresql
import { readdirSync } from "node:fs";
import { cp, mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { recordEvents } from "../../src/events/record/events.record.js";
import { rebuildAnalytics } from "../../src/figures/totals/rebuild.js";
import { migrationNames, migrationsFolder } from "../../src/database/migrations/applied.js";
import { migrate } from "../../src/database/migrations/migrate.js";
import { connect } from "../../src/database/open.js";
import { asInputs, expectedFigures, figuresOf } from "../support/figures.js";
import { folderForTest } from "../support/folder.js";
import { createOwnDatabase } from "../support/database/ownDatabase.js";
import { releasedEvents, releasedShows, releasedStore as storeId } from "../support/figures/released.js";

const quiet = () => undefined;

/** Rows of a release, each file under the name of its last migration. Until there is one, those of the first migration. */
const folder = new URL("upgrade/", import.meta.url);
const releases = readdirSync(folder).map((name) => name.replace(/\.sql$/u, ""));

/** The migrations of a release. */
async function migrationsUntil(last: string): Promise<string> {
  const copied = await folderForTest();
  await cp(join(migrationsFolder, "migration_lock.toml"), join(copied, "migration_lock.toml"));
  for (const name of (await migrationNames()).filter((each) => each <= last)) {
    await mkdir(join(copied, name));
    await cp(join(migrationsFolder, name), join(copied, name), { recursive: true });
  }
  return copied;
}

/** All rows of all tables, by table. */
async function contents(session: pg.Client): Promise<Record<string, unknown[]>> {
  const { rows: tables } = await session.query<{ name: string }>(
    `SELECT relname::text AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
       AND relname <> '_prisma_migrations' ORDER BY 1`,
  );
  const all: Record<string, unknown[]> = {};
  for (const { name } of tables) {
    const { rows } = await session.query(`SELECT to_jsonb(t) AS row FROM "${name}" AS t ORDER BY to_jsonb(t)`);
    all[name] = rows.map(({ row }): unknown => row);
  }
  return all;
}

test.each(releases)("a database of the release whose last migration is %s keeps its rows and figures", async (last) => {
  const own = await createOwnDatabase("upgrade");
  onTestFinished(() => own.drop());
  const connection = { connectionString: own.url };
  const released = await migrate(connection, quiet, { folder: await migrationsUntil(last) });
  const session = new pg.Client(connection);
  await session.connect();
  onTestFinished(() => session.end());
  await session.query(await readFile(new URL(`${last}.sql`, folder), "utf8"));
  const before = await contents(session);

  const later = (await migrationNames()).slice(released.length);
  expect(await migrate(connection, quiet)).toEqual(later);
  // A migration that changes what is stored says here which tables are to differ, and how.
  expect(await contents(session)).toMatchObject(before);

  const database = connect(connection, quiet);
  onTestFinished(() => database.close());
  const db = database.client;
  const figures = () => Promise.all(releasedShows.map((lsId) => figuresOf(db, { storeId, lsId })));
  const expected = releasedShows.map((lsId) => expectedFigures(releasedEvents(lsId)));
  expect(await figures()).toEqual(expected);
  for (const lsId of ["summer sale", "uuids"] as const) {
    const events = asInputs(releasedEvents(lsId));
    const known = await recordEvents(db, storeId, lsId, events);
    expect(known, "every event is known").toEqual({ accepted: 0, duplicates: events.length });
  }
  const firstViews = () => db.$queryRaw`SELECT show, "viewerId", "firstViewAt"::text FROM "ShowViewer" ORDER BY 1, 2`;
  const migrated = await firstViews();
  await rebuildAnalytics(db, storeId);
  expect(await figures()).toEqual(expected);
  expect(await firstViews()).toEqual(migrated);
});
