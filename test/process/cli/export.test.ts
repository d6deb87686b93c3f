// @tier all
import { randomUUID } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import zlib, { gunzipSync, gzipSync } from "node:zlib";
import { beforeAll, expect, test } from "vitest";
import { cli, cliJson } from "../../support/process/cli.js";
import { toCsv } from "../../support/catalog/csv.js";
import { makeSharedPlace, type Place, removePlace, vitrine } from "../../support/process.js";
import { product } from "../../support/products.js";

let env: Place["env"];
let folder: string;
beforeAll(async () => {
  const place = await makeSharedPlace();
  ({ env } = place);
  folder = await mkdtemp(join(tmpdir(), "vt-export-"));
  return async () => {
    await removePlace(place);
    await rm(folder, { recursive: true, force: true });
  };
});

const list = [
  product("a", { title: 'Line\n"two"', price: 12.5, images: ["https://shop.example/1", "https://shop.example/2"] }),
  product("b", { available: false, description: " kept " }),
];
const ndjson = list.map((one) => `${JSON.stringify(one)}\n`).join("");

async function newStore(): Promise<string> {
  const store = `store-${randomUUID()}`;
  await cli(["store", "create", store], env);
  return store;
}

test("a store is exported to each kind of file, and imported into another store from it, with equal products", async () => {
  const store = await newStore();
  const source = join(folder, "source.csv");
  await writeFile(source, toCsv(list));
  await cli(["import", store, source], env);
  const exported: string[] = [];
  for (const name of ["all.csv", "all.csv.gz", "all.ndjson", "all.jsonl.gz"]) {
    const file = join(folder, name);
    const format = name.includes("csv") ? "csv" : "ndjson";
    expect(await cliJson(["export", store, file], env)).toEqual({ store, file, format, products: 2 });
    const other = await newStore();
    expect(await cliJson(["import", other, file], env)).toMatchObject({ store: other, imported: 2, created: 2 });
    const copy = join(folder, "copy.ndjson");
    await cli(["export", other, copy], env);
    exported.push(await readFile(copy, "utf8"));
  }
  expect(gunzipSync(await readFile(join(folder, "all.csv.gz")))).toEqual(await readFile(join(folder, "all.csv")));
  expect(new Set(exported).size).toBe(1);
  expect(
    exported[0]
      ?.trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as unknown),
  ).toEqual(list);
  expect(
    (await readdir(folder)).filter((name) => /-[\da-f]{12}$/u.test(name)),
    "drafts",
  ).toEqual([]);
});

test("an export is printed without a file, and narrowed", async () => {
  const store = await newStore();
  const file = join(folder, "few.ndjson");
  await writeFile(file, ndjson);
  await cli(["import", store, file], env);
  const { status, stdout } = await vitrine(["export", store, "--format", "ndjson", "--available", "false"], env);
  expect(status).toBe(0);
  expect(JSON.parse(stdout)).toEqual(list[1]); // and nothing else
  const { stdout: later } = await cli(["export", store, "-", "--updated-since", "2999-01-01T00:00:00Z"], env);
  expect(later.split("\n")).toHaveLength(2);
});

test("an invalid export or import is refused with the reason", async () => {
  const store = await newStore();
  const broken = join(folder, "broken.csv.gz");
  await writeFile(broken, gzipSync(toCsv(list)).subarray(0, 50));
  const file = join(folder, "options.ndjson");
  await writeFile(file, ndjson);
  const refusals: [string[], number, string][] = [
    [["export", "nowhere", join(folder, "x.csv")], 1, "There is no store nowhere."],
    [["export", store, join(folder, "no", "x.csv")], 1, "there is no folder"],
    [["export", store, "-", "--json"], 2, "--json needs a file"],
    [["export", store, join(folder, "x.csv"), "--updated-since", "yesterday"], 2, "ISO 8601"],
    [["export", store, join(folder, "x.csv"), "--site", "nowhere"], 1, "no site"],
    [["import", store, broken], 1, "is not compressed as its name says, or is incomplete"],
    [["import", store, join(folder, "missing.csv.gz")], 1, "There is no file"],
    [["import", store, file, "--delimiter", ";"], 1, "NDJSON has Vitrine's own fields"],
  ];
  if (!("createZstdDecompress" in zlib)) refusals.push([["import", store, "a.csv.zst"], 1, "cannot read zstd"]);
  for (const [args, status, text] of refusals) {
    const result = await cli(args, env);
    expect({ args, status: result.status, stderr: result.stderr }).toEqual({
      args,
      status,
      stderr: expect.stringContaining(text),
    });
  }
});
