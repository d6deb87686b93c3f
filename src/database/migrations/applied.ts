import { readdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { packageFile } from "../../lib/packageFiles.js";
import { Prisma } from "../../generated/prisma/client.js";
import type { Database } from "../client.js";

/** The folder has Prisma's layout. */
export const migrationsFolder = fileURLToPath(packageFile("prisma/migrations"));

let known: readonly string[] | undefined;

export async function migrationNames(folder = migrationsFolder): Promise<readonly string[]> {
  if (folder !== migrationsFolder) return readNames(folder);
  return (known ??= await readNames(folder));
}

async function readNames(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .toSorted();
}

type Query = <Row>(sql: string) => Promise<readonly Row[]>;

/** Without migrations that were applied incompletely. */
export async function appliedMigrations(query: Query): Promise<ReadonlySet<string>> {
  const [table] = await query<{ exists: boolean }>("SELECT to_regclass('_prisma_migrations') IS NOT NULL AS exists");
  if (table?.exists !== true) return new Set();
  const applied = await query<{ name: string }>(
    "SELECT migration_name AS name FROM _prisma_migrations WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL",
  );
  return new Set(applied.map(({ name }) => name));
}

let wereAllApplied = false;

/** Whether this process last found no pending migration. */
export function isKnownMigrated(): boolean {
  return wereAllApplied;
}

/** The migrations that are not applied, or not completely. */
export async function pendingMigrationsBy(query: Query): Promise<readonly string[]> {
  const [names, applied] = [await migrationNames(), await appliedMigrations(query)];
  const pending = names.filter((name) => !applied.has(name));
  wereAllApplied = pending.length === 0;
  return pending;
}

export function pendingMigrations(db: Database): Promise<readonly string[]> {
  return pendingMigrationsBy((sql) => db.$queryRaw(Prisma.raw(sql)));
}

export async function isMigrated(db: Database): Promise<boolean> {
  return (await pendingMigrations(db)).length === 0;
}
