import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { startEmbedded } from "../../src/database/embedded/engine.js";
import { migrationNames, migrationsFolder } from "../../src/database/migrations/applied.js";
import { migrate } from "../../src/database/migrations/migrate.js";
import { embeddedConnection } from "../../src/database/open.js";

const cache = "node_modules/.cache/vitrine";

/** Setups of all projects run in one process, but do not share modules. */
const key = Symbol.for("vitrine.test.template");
const shared = globalThis as typeof globalThis & { [key]?: Promise<string> };

/**
 * The folder of a migrated embedded database without stores, for tests to copy. PGlite takes 7 seconds of CPU time to
 * create a database and 1 to open it, so one is kept for each version of PGlite and of the migrations.
 */
export default async function setUp({ provide }: TestProject): Promise<void> {
  shared[key] ??= makeTemplate();
  provide("template", await shared[key]);
}

async function makeTemplate(): Promise<string> {
  const path = join(cache, await versionOfTemplate());
  if (existsSync(path)) return path;
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, "draft-"));
  const server = await startEmbedded({ folder });
  await migrate(embeddedConnection(server.socketFolder), () => undefined);
  await server.close();
  await rename(folder, path).catch(() => rm(folder, { recursive: true })); // another run was faster
  return path;
}

async function versionOfTemplate(): Promise<string> {
  const migrations = (await migrationNames()).map((name) => join(migrationsFolder, name, "migration.sql"));
  const hash = createHash("sha256");
  for (const file of ["node_modules/@electric-sql/pglite/package.json", ...migrations])
    hash.update(await readFile(file));
  return hash.digest("hex").slice(0, 16);
}
