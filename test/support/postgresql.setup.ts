import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { TestProject } from "vitest/node";
import { connectionTimeoutMillis, createDatabase } from "./postgresql.js";

/** A database of its own on the server of TEST_DATABASE_URL, for all files of the run; gone afterwards. */
export default async function setUp({ provide, name: project }: TestProject): Promise<() => Promise<void>> {
  const server = process.env["TEST_DATABASE_URL"] ?? "";
  const { url, drop } = await createDatabase(server, `vitrine_test_${process.pid}_${project}`);
  // In a process of its own: the setup of the other engine migrates in this one, and shares the schema engine's memory. The
  // compiled program starts in a fifth of the time that the sources take.
  await promisify(execFile)(process.execPath, ["dist/main.js", "migrate"], {
    env: { ...process.env, DATABASE_URL: url },
  });
  provide("databases", [
    { engine: "postgresql", connection: { connectionString: url, max: 5, connectionTimeoutMillis } },
  ]);
  return drop;
}
