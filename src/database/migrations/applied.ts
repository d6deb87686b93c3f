import { readdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { Prisma } from "../../generated/prisma/client.js";
import type { Database } from "../client.js";

/** The migrations of this version, in Prisma's layout. */
export const migrationsFolder = fileURLToPath(new URL("../../../prisma/migrations", import.meta.url));

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

/** Migrations that are not applied, or not completely. */
export function pendingMigrations(db: Database): Promise<readonly string[]> {
  return pendingAccordingTo((sql) => db.$queryRaw(Prisma.raw(sql)));
}

/** The same over any connection. @param ask sends a query */
export async function pendingAccordingTo(
  ask: <Row>(sql: string) => Promise<readonly Row[]>,
): Promise<readonly string[]> {
  const names = await migrationNames();
  const [table] = await ask<{ exists: boolean }>("SELECT to_regclass('_prisma_migrations') IS NOT NULL AS exists");
  if (table?.exists !== true) return names;
  const applied = await ask<{ name: string }>(
    "SELECT migration_name AS name FROM _prisma_migrations WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL",
  );
  const appliedNames = new Set(applied.map(({ name }) => name));
  return names.filter((name) => !appliedNames.has(name));
}

export async function isMigrated(db: Database): Promise<boolean> {
  return (await pendingMigrations(db)).length === 0;
}
