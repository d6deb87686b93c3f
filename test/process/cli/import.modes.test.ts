// @tier all
import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createStore } from "../../../src/access/stores/store.js";
import { cli, cliJson, openSharedPlace } from "../../support/process/cli.js";
import { toCsv } from "../../support/catalog/csv.js";
import { products, type Sent } from "../../support/products.js";

const { place, database } = await openSharedPlace();

/** A new store, and what imports rows into it. */
async function prepare() {
  const { env, dataDir } = place;
  const store = `store-${randomUUID()}`;
  await createStore(database.client, store, "Test store");
  const command = async (rows: readonly Sent[], ...options: string[]) => {
    const file = join(dataDir, `${randomUUID()}.csv`);
    await writeFile(file, toCsv(rows));
    return ["import", store, file, ...options];
  };
  return { env, store, command };
}

test("--mode replace keeps only the rows of the file, within --max-deletions", async () => {
  const { env, store, command } = await prepare();
  await cliJson(await command(products(30)), env);
  const some = products(12);
  expect(await cli(await command(some, "--mode", "Replace"), env)).toEqual({
    status: 1,
    stdout: "",
    stderr: "vitrine: This import would remove 18 of 30 products, but maxDeletions allows 10. Nothing was stored.\n",
  });
  const allowed = ["--mode", "replace", "--max-deletions", "18"];
  const forecast = "12 products would be imported, 18 would be deleted. Nothing was stored. 0 new, 12 replaced.";
  expect((await cli(await command(some, ...allowed, "--dry-run"), env)).stdout).toContain(`${forecast}\n`);
  expect(await cliJson(await command(some, ...allowed), env)).toEqual({
    store,
    imported: 12,
    created: 0,
    updated: 12,
    deleted: 18,
  });
  expect((await cli(await command(products(11), ...allowed), env)).stdout).toBe(
    "11 products were imported, 1 deleted. 0 new, 11 replaced.\n",
  );
});

test("a file of which no product is stored deletes nothing, unless --max-deletions says so", async () => {
  const { env, store, command } = await prepare();
  await cliJson(await command(products(3)), env);
  const [header = ""] = toCsv(products(1)).split("\n");
  const shopify = ["--format", "shopify", "--url-template", "https://shop.example/{handle}"];
  const rejects = ["--rejects", join(place.dataDir, randomUUID())];
  const files: readonly [name: string, content: string, ...options: string[]][] = [
    ["empty.csv", header],
    ["empty.csv", header, ...rejects],
    ["failing.csv", toCsv([{ ...products(4)[3], price: -1 }]), ...rejects],
    ["empty.ndjson", ""],
    ["empty.xml", '<rss xmlns:g="http://base.google.com/ns/1.0"><channel></channel></rss>'],
    ["shopify.csv", "Handle,Title,Option1 Value,Variant SKU,Variant Price,Image Src\n", ...shopify],
  ];
  const fault = "would remove 3 of 3 products and store none, which only maxDeletions allows.";
  for (const [name, content, ...options] of files) {
    const file = join(place.dataDir, `${randomUUID()}-${name}`);
    await writeFile(file, content);
    const replace = ["import", store, file, "--mode", "replace", ...options];
    const refused = await cli(replace, env);
    expect([name, refused.status]).toEqual([name, 1]);
    expect(refused.stderr).toContain(`vitrine: This import ${fault} Nothing was stored.\n`);
    expect((await cli([...replace, "--dry-run"], env)).stdout).toContain(`The import would be refused: it ${fault}`);
  }
  const stored = () => database.client.product.count({ where: { storeId: store } });
  expect(await stored()).toBe(3);
  const empty = await command([], "--mode", "replace", "--max-deletions", "3");
  expect((await cli(empty, env)).stdout).toContain("0 products were imported, 3 deleted.");
  expect(await stored()).toBe(0);
});

test("--mode patch changes only the columns of the file, and refuses files of other systems", async () => {
  const { env, store, command } = await prepare();
  await cliJson(await command(products(3, () => ({ description: "Kept", price: 1 }))), env);
  const file = join(place.dataDir, `${randomUUID()}.csv`);
  await writeFile(file, "sku,price\nsku-p00000,9.5\nsku-p00001,\n");
  const patch = ["import", store, file, "--mode", "patch"];
  expect(await cli(patch, env)).toEqual({
    status: 0,
    stdout: "2 products were updated. 0 new, 2 changed.\n",
    stderr: "",
  });
  const stored = await database.client.product.findMany({ where: { storeId: store }, orderBy: { id: "asc" } });
  expect(stored.map(({ price, description }) => [price?.toNumber() ?? null, description])).toEqual([
    [9.5, "Kept"],
    [null, "Kept"],
    [1, "Kept"],
  ]);
  const { status, stderr } = await cli([...patch, "--format", "shopify"], env);
  expect([status, stderr]).toEqual([
    1,
    expect.stringContaining("The mode PATCH reads files of other systems only with mapped columns."),
  ]);
});

test("unknown modes and invalid counts are refused", async () => {
  const { env, command } = await prepare();
  const unknown = await cli(await command([], "--mode", "merge"), env);
  expect([unknown.status, unknown.stderr]).toEqual([
    2,
    expect.stringContaining("Allowed choices are upsert, patch, replace"),
  ]);
  for (const count of ["-1", "1.5", "many", ""]) {
    const { status, stderr } = await cli(await command([], "--mode", "replace", "--max-deletions", count), env);
    expect([status, stderr]).toEqual([2, expect.stringContaining("Must be a whole number, 0 or more.")]);
  }
});
