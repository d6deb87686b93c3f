import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { importProducts } from "../../../src/catalog/import/entryPoints/jsonProducts.js";
import { openCommands } from "../../support/process/cli.js";
import { product } from "../../support/products.js";

const { db, run, json, refusal, newStore, fileOf } = await openCommands();

const list = [
  product("a", { title: 'Line\n"two"', price: 12.5, images: ["https://shop.example/1", "https://shop.example/2"] }),
  product("b", { available: false, description: " kept " }),
];

async function fullStore(): Promise<string> {
  const store = await newStore();
  await importProducts(db, store, list);
  return store;
}

test("a store is exported to each kind of file, and imported into another store from it, with equal products", async () => {
  const store = await fullStore();
  const folder = dirname(await fileOf("older", "all.csv"));
  const names = ["all.csv", "all.csv.gz", "all.jsonl.gz", "all.ndjson"];
  for (const name of names) {
    const file = join(folder, name);
    const format = name.includes("csv") ? "csv" : "ndjson";
    expect(await json("export", store, file)).toEqual({ store, file, format, products: 2 });
    const other = await newStore();
    expect(await json("import", other, file)).toMatchObject({ store: other, imported: 2, created: 2 });
    const { stdout } = await run("export", other, "--format", "ndjson");
    const exported = stdout.trimEnd().split("\n");
    expect(exported.map((line) => JSON.parse(line) as unknown)).toEqual(list);
  }
  expect(gunzipSync(await readFile(join(folder, "all.csv.gz")))).toEqual(await readFile(join(folder, "all.csv")));
  expect(await readdir(folder), "no drafts").toEqual(names);
});

test("an export is printed without a file, and narrowed", async () => {
  const store = await fullStore();
  const { stdout } = await run("export", store, "--format", "ndjson", "--available", "false");
  expect(JSON.parse(stdout)).toEqual(list[1]); // and nothing else
  const { stdout: later } = await run("export", store, "-", "--updated-since", "2999-01-01T00:00:00Z");
  expect(later.split("\n")).toHaveLength(2);
});

test("an invalid export is refused with the reason", async () => {
  const store = await newStore();
  const file = await fileOf("older", "x.csv");
  const refusals: [string[], number, string][] = [
    [[join(dirname(file), "no", "x.csv")], 1, "there is no folder"],
    [["-", "--json"], 2, "--json needs a file"],
    [[file, "--updated-since", "yesterday"], 2, "ISO 8601"],
    [[file, "--site", "nowhere"], 1, "no site"],
  ];
  for (const [args, status, text] of refusals) {
    expect(await refusal("export", store, ...args)).toEqual([status, expect.stringContaining(text)]);
  }
  expect(await readFile(file, "utf8")).toBe("older");
});
