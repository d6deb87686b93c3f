import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { PoolConfig } from "pg";
import type { ProvidedContext } from "vitest";
import type { TestProject } from "vitest/node";
import { createStore } from "../../../src/stores/store.js";
import { startEmbedded } from "../../../src/database/embedded/embeddedEngine.js";
import { type FileLock, lockFile } from "../../../src/database/embedded/fileLock.js";
import { migrationNames, migrationsFolder } from "../../../src/database/migrations/applied.js";
import { migrate } from "../../../src/database/migrations/migrate.js";
import { connect, embeddedConnection } from "../../../src/database/open.js";
import { copyFolder, removeFolders } from "../run/copyFolder.js";
import { oncePerRun } from "../run/oncePerRun.js";

const cache = "node_modules/.cache/vitrine";

/** template1 and template0: nobody connects to them, and they are more than half of the files that tests copy, pack and remove. */
const unusedDatabases = ["1", "4"];

type Templates = ProvidedContext["templates"];

/**
 * The folders of an embedded database without tables, of a migrated one without stores, and of one with a store, for tests to copy. PGlite takes 4
 * seconds of CPU time to create a database and 1 to open it, so they are kept for each version of PGlite, of the migrations and of this file.
 */
export default async function setUp({ provide }: TestProject): Promise<void> {
  provide("templates", await oncePerRun("templates", makeTemplates));
}

const foldersIn = (parent: string): Templates => ({
  empty: join(parent, "empty"),
  migrated: join(parent, "migrated"),
  withStore: join(parent, "withStore"),
});

async function makeTemplates(): Promise<Templates> {
  const path = join(cache, `templates-${await versionOfTemplates()}`);
  if (existsSync(path)) return foldersIn(path);
  await mkdir(cache, { recursive: true });
  const lock = await lockOnceFree(`${path}.lock`);
  try {
    if (!existsSync(path)) await makeIn(path);
  } finally {
    await lock.release();
  }
  return foldersIn(path);
}

/** Waits for its turn: one of the runs that begin at the same time makes the templates, and the others wait for as long as it lives. */
async function lockOnceFree(path: string): Promise<FileLock> {
  for (;;) {
    const lock = await lockFile(path);
    if ("release" in lock) return lock;
    await sleep(100);
  }
}

async function makeIn(path: string): Promise<void> {
  const draft = await mkdtemp(join(cache, "draft-")); // a run that is killed leaves no half of them
  const { empty, migrated, withStore } = foldersIn(draft);
  await (await startEmbedded({ folder: empty })).close();
  await removeFolders(...unusedDatabases.map((oid) => join(empty, "base", oid)));
  await copyAnd(empty, migrated, (connection) => migrate(connection, () => undefined));
  await copyAnd(migrated, withStore, async (connection) => {
    const database = connect(connection, () => undefined);
    await createStore(database.client, "demo", "A store of an operator");
    await database.close();
  });
  await rename(draft, path);
}

/** Copies a database, and changes the copy. */
async function copyAnd(from: string, to: string, change: (connection: PoolConfig) => Promise<unknown>): Promise<void> {
  await copyFolder(from, to);
  const server = await startEmbedded({ folder: to });
  await change(embeddedConnection(server.socketFolder));
  await server.close();
}

async function versionOfTemplates(): Promise<string> {
  const migrations = (await migrationNames()).map((name) => join(migrationsFolder, name, "migration.sql"));
  const hash = createHash("sha256");
  for (const file of ["node_modules/@electric-sql/pglite/package.json", fileURLToPath(import.meta.url), ...migrations])
    hash.update(await readFile(file));
  return hash.digest("hex").slice(0, 16);
}
