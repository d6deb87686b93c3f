import { describe, expect, onTestFinished, test } from "vitest";
import pg from "pg";
import { importProducts } from "../../../src/catalog/import/ways/list.js";
import { createTestStore, openConnections, openTestApp } from "../../support/app.js";
import { readAnswer } from "../../support/call.js";
import { ofTest } from "../../support/citus/recording.js";
import { toCsv } from "../../support/catalog/csv.js";
import { paths, products, storedKeys } from "../../support/products.js";
import { givenDatabase } from "../../support/database/database.js";

const { engine, connection } = givenDatabase();

const app = await openTestApp();

const rows = 3_000;
/** Products with one sku, of which the last ones have an invalid price. */
const wrong = (invalid: number) =>
  products(rows, (index) => ({ sku: "same", ...(index >= rows - invalid && { price: -1 }) }));

describe.each([
  ["JSON", paths.bulk, "application/json", (list: readonly object[]) => JSON.stringify({ products: list })],
  ["CSV in JSON", paths.csv, "application/json", (list: object[]) => JSON.stringify({ csvContent: toCsv(list as []) })],
  ["CSV", paths.csv, "text/csv", (list: readonly object[]) => toCsv(list as [])],
  [
    "NDJSON",
    paths.bulk,
    "application/x-ndjson",
    (list: object[]) => list.map((item) => JSON.stringify(item)).join("\n"),
  ],
] as const)("an import of %s", (_, path, type, write) => {
  test.each([
    ["reports 1,000 invalid values together with a duplicate key", 1_000, "DUPLICATE", 1_001],
    ["counts more invalid values, without comparing keys", 1_001, "INVALID_VALUE", 1_001],
    ["counts all values if all are invalid", rows, "INVALID_VALUE", rows],
  ])("%s", async (__, invalid, first, errorsTotal) => {
    const store = await createTestStore(app);
    const body = write(wrong(invalid));
    const answer = await readAnswer(
      await store.fetch(path, { method: "POST", headers: { "content-type": type }, body }),
    );
    expect(answer).toMatchObject({
      status: 400,
      body: {
        code: "VALIDATION_FAILED",
        detail: `${errorsTotal} problems; the first 100 are listed. Nothing was stored.`,
        errorsTotal,
      },
    });
    expect(answer.body.errors.map((error: { code: string }) => error.code)).toEqual([
      first,
      ...Array.from({ length: 99 }, () => "INVALID_VALUE"),
    ]);
    expect(await storedKeys(app, store)).toEqual({});
  });
});

test.runIf(engine === "postgres")(
  "a long import that is invalid from its start does not wait for other imports of its store",
  async () => {
    const store = await createTestStore(app);
    const holder = new pg.Client(connection);
    await holder.connect();
    onTestFinished(() => holder.end());
    const locked = `long import ${store.id}`;
    await holder.query(ofTest("SELECT pg_advisory_lock(hashtextextended($1, 0))"), [locked]);
    const { client, probe } = openConnections();
    let stored = 0;
    const tried = new Promise<void>((resolve) => {
      probe.aroundQuery = (sql, send) => {
        if (sql.includes("pg_try_advisory_xact_lock")) resolve();
        return send();
      };
    });
    const waiting = importProducts(client, store.id, products(rows)).then(({ imported }) => (stored = imported));
    await tried;
    for (const invalid of [1, rows]) {
      const list = products(rows, (index) => (index < invalid ? { price: -1 } : {}));
      await expect(importProducts(client, store.id, list)).rejects.toMatchObject({
        code: "VALIDATION_FAILED",
        problemsTotal: invalid,
      });
    }
    expect(stored).toBe(0);
    await holder.query(ofTest("SELECT pg_advisory_unlock(hashtextextended($1, 0))"), [locked]);
    await waiting;
    expect(stored).toBe(rows);
  },
);
