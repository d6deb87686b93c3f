import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { ProvidedContext } from "vitest";
import type { TestProject } from "vitest/node";
import { startEmbedded } from "../../src/database/embedded/engine.js";
import { migrationNames, migrationsFolder } from "../../src/database/migrations/applied.js";
import { migrate } from "../../src/database/migrations/migrate.js";
import { embeddedConnection } from "../../src/database/open.js";

const cache = "node_modules/.cache/vitrine";

type Templates = ProvidedContext["templates"];

/** Setups of all projects run in one process, but do not share modules. */
const key = Symbol.for("vitrine.test.templates");
const shared = globalThis as typeof globalThis & { [key]?: Promise<Templates> };

/**
 * The folders of an embedded database without tables, and of a migrated one without stores, for tests to copy. PGlite takes 4
 * seconds of CPU time to create a database and 1 to open it, so both are kept for each version of PGlite and of the migrations.
 */
export default async function setUp({ provide }: TestProject): Promise<void> {
  shared[key] ??= makeTemplates();
  provide("templates", await shared[key]);
}

async function makeTemplates(): Promise<Templates> {
  const path = join(cache, `templates-${await versionOfTemplates()}`);
  const inPath = { empty: join(path, "empty"), migrated: join(path, "migrated") };
  if (existsSync(path)) return inPath;
  await mkdir(cache, { recursive: true });
  const draft = await mkdtemp(join(cache, "draft-"));
  const [empty, migrated] = [join(draft, "empty"), join(draft, "migrated")];
  await (await startEmbedded({ folder: empty })).close();
  await cp(empty, migrated, { recursive: true });
  const server = await startEmbedded({ folder: migrated });
  await migrate(embeddedConnection(server.socketFolder), () => undefined);
  await server.close();
  await rename(draft, path).catch(() => rm(draft, { recursive: true })); // another run was faster
  return inPath;
}

async function versionOfTemplates(): Promise<string> {
  const migrations = (await migrationNames()).map((name) => join(migrationsFolder, name, "migration.sql"));
  const hash = createHash("sha256");
  for (const file of ["node_modules/@electric-sql/pglite/package.json", ...migrations])
    hash.update(await readFile(file));
  return hash.digest("hex").slice(0, 16);
}
