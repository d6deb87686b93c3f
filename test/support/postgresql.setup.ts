import { execFile } from "node:child_process";
import { promisify } from "node:util";
import pg from "pg";
import type { TestProject } from "vitest/node";

/** A database of its own on the server of TEST_DATABASE_URL, for all files of the run; gone afterwards. */
export default async function setUp({ provide, name: project }: TestProject): Promise<() => Promise<void>> {
  const server = process.env["TEST_DATABASE_URL"];
  const name = `vitrine_test_${process.pid}_${project}`;
  await onServer(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  await onServer(server, `CREATE DATABASE ${name}`);
  const url = new URL(server ?? "");
  url.pathname = `/${name}`;
  // In a process of its own: the setup of the other engine migrates in this one, and shares the schema engine's memory.
  await promisify(execFile)(process.execPath, ["--import", "tsx", "src/main.ts", "migrate"], {
    env: { ...process.env, DATABASE_URL: url.href },
  });
  provide("database", { engine: "postgresql", connection: { connectionString: url.href, max: 5 } });
  return () => onServer(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
}

async function onServer(connectionString: string | undefined, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
