import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { schema } from "../src/graphql/schema.js";
import { startApp, type TestApp } from "./support/app.js";
import { doEverything, graphqlOperations, subscriptions } from "./support/citus/operations.js";
import { recordedDatabase } from "./support/citus/recording.js";
import { statementBreaches } from "./support/citus/statementRules.js";
import { distributedTables } from "./support/citus/tables.js";

let app: TestApp;
let statements: ReadonlySet<string>;
beforeAll(async () => {
  const recorded = recordedDatabase();
  ({ statements } = recorded);
  app = await startApp({}, recorded.database);
  const folder = await mkdtemp(join(tmpdir(), "vt-scale-"));
  try {
    await doEverything(app, folder);
  } finally {
    await rm(folder, { recursive: true });
  }
});
afterAll(() => app.close());

test("every operation of the schema is among those whose statements are looked at", () => {
  const sent = [...graphqlOperations.map(([query]) => query), ...subscriptions].join("\n");
  const types = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  const fields = types.flatMap((type) => Object.keys(type?.getFields() ?? {}));
  expect(fields.filter((name) => !new RegExp(String.raw`\b${name}\(`, "u").test(sent))).toEqual([]);
});

test("every distributed table is written to", async () => {
  const tables = await distributedTables(app.db);
  const written = (table: string) =>
    [...statements].some((sql) => new RegExp(`INSERT INTO (?:"public"\\.)?"${table}"`, "u").test(sql));
  expect(tables.filter((table) => !written(table))).toEqual([]);
});

test("every statement is tied to one store, and gives its nodes nothing to work out by themselves", async () => {
  const tables = await distributedTables(app.db);
  const found: Record<string, string[]> = {};
  for (const sql of statements) {
    const breaches = await statementBreaches(sql, tables);
    if (breaches.length > 0) found[sql] = breaches;
  }
  expect(found).toEqual({});
});
