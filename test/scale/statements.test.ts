import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { schema } from "../../src/graphql/schema.js";
import { startApp, type TestApp, testDatabase } from "../support/app.js";
import { findViolations } from "../support/citus/violations.js";
import { deletions, doEverything, graphqlOperations, subscriptions } from "../support/citus/operations.js";
import { distributedTables } from "../support/citus/tables.js";

let app: TestApp;
const statements = new Set<string>();
beforeAll(async () => {
  const database = testDatabase((sql) => statements.add(sql));
  app = await startApp({}, database);
  const folder = await mkdtemp(join(tmpdir(), "vt-scale-"));
  try {
    await doEverything(app, folder);
  } finally {
    await rm(folder, { recursive: true });
  }
});
afterAll(() => app.close());

test("every operation of the schema is among those whose statements are checked", () => {
  const sent = [...[...graphqlOperations, ...deletions].map(([query]) => query), ...subscriptions].join("\n");
  const types = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  const fields = types.flatMap((type) => Object.keys(type?.getFields() ?? {}));
  expect(fields.filter((name) => !new RegExp(String.raw`\b${name}(?:\(| \{)`, "u").test(sent))).toEqual([]);
});

test("every distributed table is written to", async () => {
  const tables = await distributedTables(app.db);
  const written = (table: string) =>
    [...statements].some((sql) => new RegExp(`INSERT INTO (?:"public"\\.)?"${table}"`, "u").test(sql));
  expect(tables.filter((table) => !written(table))).toEqual([]);
});

test("every statement is accepted by Citus, and runs on one node", async () => {
  expect(await findViolations(app.db, statements)).toEqual({});
});
