import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { TestProject } from "vitest/node";
import { startEmbedded } from "../../src/database/embedded/engine.js";
import { migrate } from "../../src/database/migrations/migrate.js";
import { embeddedConnection } from "../../src/database/open.js";

/** One embedded server for all files of a project; each test makes stores of its own in it. */
export default async function setUp({ provide, name: project }: TestProject): Promise<() => Promise<void>> {
  const server = await startEmbedded({});
  const connection = embeddedConnection(server.socketFolder);
  if (project === "embedded") await migrate(connection, () => undefined);
  else await migrateElsewhere(server.socketFolder);
  provide("database", { engine: "embedded", connection });
  return () => server.close();
}

/** In a process of its own: the setup of another project migrates in this one, and shares the schema engine's memory. */
async function migrateElsewhere(socketFolder: string): Promise<void> {
  const DATABASE_URL = `postgresql://postgres@localhost/postgres?host=${encodeURIComponent(socketFolder)}`;
  await promisify(execFile)(process.execPath, ["--import", "tsx", "src/main.ts", "migrate"], {
    env: { ...process.env, DATABASE_URL, DATABASE_POOL_MAX: "1" },
  });
}
