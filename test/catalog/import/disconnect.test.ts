import { expect, test } from "vitest";
import { chunkRowsMax } from "../../../src/files/chunkRows.js";
import { importFrom } from "../../../src/catalog/import/import.js";
import type { ProductSource } from "../../../src/catalog/import/importTypes.js";
import { importProducts, listSource } from "../../../src/catalog/import/entryPoints/jsonProducts.js";
import { createTestStore, openConnections, openTestApp } from "../../support/app.js";
import { products } from "../../support/products.js";
import { digestOf } from "../../support/stored.js";

const app = await openTestApp();

const errorPolicy = "REJECT_ALL";

/** A list whose caller goes after some chunks were taken. */
function leaving(rows: number, chunks: number) {
  const caller = new AbortController();
  const list = listSource(products(rows), (index) => ["products", index], errorPolicy);
  const source: ProductSource = {
    ...list,
    async *read() {
      const reader = list.read();
      for (let taken = 0; ; taken += 1) {
        const step = await reader.next();
        if (step.done === true) return step.value;
        if (taken === chunks) caller.abort();
        yield step.value;
      }
    },
  };
  return { source, signal: caller.signal };
}

test.each([
  ["before its first chunk", 100, 0],
  ["before its first chunk of many", 3 * chunkRowsMax, 0],
  ["between its chunks", 3 * chunkRowsMax, 2],
])("an import whose client disconnects %s stores nothing", async (_, rows, chunks) => {
  const store = await createTestStore(app);
  const before = await digestOf(app, store);
  const { source, signal } = leaving(rows, chunks);
  await expect(importFrom(app.db, store.id, source, { errorPolicy, signal })).rejects.toMatchObject({
    code: "UNAVAILABLE",
  });
  expect(await digestOf(app, store)).toBe(before);
});

test("an import whose client has already disconnected takes no lock and sends no row", async () => {
  const store = await createTestStore(app);
  const { client, probe } = openConnections();
  const sent: string[] = [];
  probe.aroundQuery = (sql, send) => {
    sent.push(sql);
    return send();
  };
  const signal = AbortSignal.abort();
  for (const rows of [10, 2 * chunkRowsMax]) {
    await expect(importProducts(client, store.id, products(rows), { signal })).rejects.toMatchObject({
      code: "UNAVAILABLE",
    });
  }
  expect(sent.filter((sql) => /INSERT|lock|BEGIN/u.test(sql))).toEqual([]);
});
