import type { TestProject } from "vitest/node";
import { connectionTimeoutMillis, createDatabase } from "../database/postgresql.js";

/** A database of its own on the server of TEST_DATABASE_URL, for all files of the run; gone afterwards. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const server = process.env["TEST_DATABASE_URL"] ?? "";
  const template = project.getProvidedContext().migratedDatabase;
  const { url, drop } = await createDatabase(server, `vitrine_test_${process.pid}_${project.name}`, template);
  project.provide("databases", [
    { engine: "postgres", connection: { connectionString: url, max: 5, connectionTimeoutMillis } },
  ]);
  return drop;
}
