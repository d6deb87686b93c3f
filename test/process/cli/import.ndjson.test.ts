// @tier all
import { randomUUID } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import zlib, { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { createStore } from "../../../src/access/stores/store.js";
import { cli, cliJson, openSharedPlace } from "../../support/process/cli.js";
import { runShell } from "../../support/docs.js";
import { product, products } from "../../support/products.js";
import { programInShell } from "../../support/process/shell.js";

const { place, database } = await openSharedPlace();

const lines = (list: readonly object[]) => list.map((each) => `${JSON.stringify(each)}\n`).join("");

/** A new store, and a folder with a file of this content. */
async function prepare(content: string | Buffer, name = "products.ndjson") {
  const { store } = await createStore(database.client, `store-${randomUUID()}`, "Test store");
  const folder = join(place.dataDir, store);
  await mkdir(folder);
  const file = join(folder, name);
  await writeFile(file, content);
  return { store, folder, file };
}

const stored = (storeId: string) =>
  database.client.product.findMany({ where: { storeId }, select: { id: true, title: true }, orderBy: { id: "asc" } });

test.for([3, 1_000])("--rejects writes failed lines unchanged, of a file of %i", async (count) => {
  const good = products(count);
  const bad = [
    lines([product("cheap", { price: -1 })]),
    `{"id": "cut off\n`,
    lines([product("twin"), product("twin")]),
    lines([product("huge", { description: "d".repeat(300_000) })]),
    lines([{ ...product("last"), colour: "red" }]).trimEnd(),
  ].join("");
  const { store, folder, file } = await prepare(`${lines(good)}\n${bad}`);
  const rejects = join(folder, "rejected.ndjson");
  const { status, stdout } = await cli(["import", store, file, "--rejects", rejects, "--json"], place.env);
  expect([status, JSON.parse(stdout)]).toMatchObject([3, { imported: count, failed: 6, rejects }]);
  expect(await readFile(rejects, "utf8")).toBe(bad);
  await writeFile(rejects, lines(good.slice(0, 2)));
  await cliJson(["import", store, rejects, "--rejects", file], place.env);
  expect(await readFile(file, "utf8")).toBe("");
});

test("a patch changes only the given fields, and a dry run shows the first products", async () => {
  const { store, folder, file } = await prepare(lines([product("a"), product("b")]));
  await cliJson(["import", store, file], place.env);
  const patches = join(folder, "patch.jsonl");
  await writeFile(patches, lines([{ id: "a", title: "New" }, { id: "none" }]));
  const command = ["import", store, patches, "--mode", "patch", "--error-policy", "reject-failed", "--json"];
  const { status, stdout } = await cli([...command, "--dry-run"], place.env);
  const shown = [{ id: "a", title: "New" }, { id: "none" }];
  expect([status, JSON.parse(stdout)]).toMatchObject([3, { imported: 1, failed: 1, products: shown }]);
  expect((await cli(command, place.env)).status).toBe(3);
  expect(await stored(store)).toMatchObject([{ title: "New" }, { title: "Title b" }]);
});

test("standard input is NDJSON where it begins with a brace, and CSV otherwise", async () => {
  const { store, folder, file } = await prepare(lines(products(2)));
  const run = (input: string) =>
    runShell(`{ ${input}; } | ${programInShell} import ${store} - --json 2>&1 || true`, place.env, folder);
  expect(await run(`cat ${file}`)).toContain('"created":2');
  expect(await run("echo 'id;sku'")).toContain("The column title is required.");
  expect(await run("true")).toContain("The CSV text is empty");
});

test("options of other formats are refused", async () => {
  const { store, file } = await prepare(lines(products(1)));
  const { status, stderr } = await cli(["import", store, file, "--format", "shopify"], place.env);
  expect([status, stderr]).toEqual([1, expect.stringContaining("NDJSON has Vitrine's own fields and is UTF-8")]);
});

const { zstdCompressSync } = zlib as { zstdCompressSync?: (bytes: Buffer) => Buffer };

test("compressed files are read: gzip, and zstd where Node.js has it", async () => {
  const forms = { gz: gzipSync, ...(zstdCompressSync && { zst: zstdCompressSync }) };
  for (const [suffix, compress] of Object.entries(forms)) {
    const { store, file } = await prepare(compress(Buffer.from(lines(products(2)))), `products.ndjson.${suffix}`);
    expect(await cliJson(["import", store, file], place.env)).toMatchObject({ created: 2 });
  }
});
