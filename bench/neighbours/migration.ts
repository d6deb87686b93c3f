import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { closeLater, temporaryFolder } from "../resources.js";
import { commandEnvironment } from "../server.js";
import { atMost, type Row } from "../table.js";
import { neighbourRows, row } from "./rows.js";
import type { Stage } from "./stage.js";

/** A dump of a large database takes hours. */
const dumpMs = 15_000;
const migrationMs = 60_000;
const root = fileURLToPath(new URL("../..", import.meta.url));

/** How long analytics reads wait while a migration is to alter a table that a dump reads. */
export async function migrationRows(stage: Stage, databaseUrl: string): Promise<Row[]> {
  const program = await laterVersion();
  const { seen, result: isApplied } = await stage.neighbour.during(async () => {
    const endDump = await beginDump(databaseUrl);
    const migration = migrate(program, databaseUrl);
    await sleep(dumpMs);
    await endDump();
    return migration;
  });
  const name = "15, a migration beside a dump";
  const { longestMs } = seen.analytics;
  return [
    row(`${name}: the longest analytics read`, longestMs / 1_000, { digits: 2, unit: "s", bound: atMost(2, 1) }),
    row(`${name}: not applied a minute after the dump has ended`, isApplied ? 0 : 1, { bound: atMost(0, 0) }),
    ...neighbourRows(name, seen, { longest: atMost(2_000, 1_000) }),
  ];
}

/** The built program, with one migration more. */
async function laterVersion(): Promise<string> {
  const folder = temporaryFolder();
  for (const part of ["dist", "prisma/migrations", "package.json"]) {
    await cp(join(root, part), join(folder, part), { recursive: true });
  }
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
  const added = join(folder, "prisma/migrations/99990101000000_later");
  await mkdir(added);
  await writeFile(join(added, "migration.sql"), `ALTER TABLE "LiveStreamTotal" ADD COLUMN later INTEGER;\n`);
  return folder;
}

/** Takes the locks that pg_dump takes. */
async function beginDump(databaseUrl: string): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const end = closeLater(() => client.end());
  const { rows } = await client.query<{ tables: string }>(
    `SELECT string_agg(format('%I.%I', schemaname, tablename), ', ') AS tables FROM pg_tables WHERE schemaname = 'public'`,
  );
  await client.query("BEGIN");
  await client.query(`LOCK TABLE ${rows[0]?.tables} IN ACCESS SHARE MODE`);
  return end;
}

async function migrate(folder: string, databaseUrl: string): Promise<boolean> {
  const env = commandEnvironment({ DATABASE_URL: databaseUrl });
  const migration = spawn(process.execPath, ["dist/main.js", "migrate"], { cwd: folder, env, stdio: "ignore" });
  const kill = closeLater(async () => void migration.kill("SIGKILL"));
  const timer = setTimeout(() => void kill(), dumpMs + migrationMs);
  const [code] = (await once(migration, "exit")) as [number | null];
  clearTimeout(timer);
  return code === 0;
}
