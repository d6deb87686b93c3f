import { randomUUID } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createStore } from "../../../src/access/stores/store.js";
import { cli, cliJson, openSharedPlace } from "../../support/cli.js";

const { place, database } = await openSharedPlace();

async function prepare(content: string | Buffer, name = "products.csv") {
  const { env, dataDir } = place;
  const store = `store-${randomUUID()}`;
  await createStore(database.client, store, "Test store");
  const file = join(dataDir, `${store}-${name}`);
  await writeFile(file, content);
  return { env, store, file, command: ["import", store, file], beside: (other: string) => `${file}.${other}` };
}

const stored = (storeId: string) => database.client.product.findMany({ where: { storeId }, orderBy: { id: "asc" } });

const shopify = `Handle,Title,Vendor,Published,Option1 Value,Variant SKU,Variant Price,Image Src
mug,Mug,Northern,true,Red,M-R,"12,90",https://cdn.example/mug.jpg
mug,,,,Blue,M-B,"13,50",https://cdn.example/mug-2.jpg
`;
const template = ["--url-template", "https://shop.example/products/{handle}"];

test("a Shopify export is recognized and stored, and unused columns are reported", async () => {
  const { env, store, command } = await prepare(shopify);
  const told = { format: "shopify", notes: ["Column 'Vendor' is not used."] };
  expect(await cliJson([...command, ...template], env)).toEqual({
    store,
    imported: 2,
    created: 2,
    updated: 0,
    ...told,
  });
  expect((await stored(store)).map(({ id, title, images, url }) => [id, title, images.length, url])).toEqual([
    ["M-B", "Mug - Blue", 2, "https://shop.example/products/mug"],
    ["M-R", "Mug - Red", 2, "https://shop.example/products/mug"],
  ]);
});

test("a dry run shows the first products, and stores nothing", async () => {
  const { env, store, command } = await prepare(shopify);
  const { status, stdout, stderr } = await cli([...command, ...template, "--dry-run"], env);
  expect({ status, stderr }).toEqual({ status: 0, stderr: "  Column 'Vendor' is not used.\n" });
  expect(stdout).toMatch(/The first 2 products as they would be stored:\n\{\n {2}"id": "M-R",/u);
  expect(await cliJson([...command, ...template, "--dry-run"], env)).toMatchObject({
    products: [
      { id: "M-R", price: 12.9 },
      { id: "M-B", price: 13.5 },
    ],
  });
  expect(await stored(store)).toEqual([]);
});

test("incomplete rows are reported with their line, and the others are stored", async () => {
  const { env, store, command } = await prepare(`${shopify}cup,,,,,C-1,5,\n`);
  const { status, stderr } = await cli([...command, ...template, "--error-policy", "reject-failed"], env);
  expect(status).toBe(3);
  expect(stderr).toMatch(/4 +title +title is required\./u);
  expect(await stored(store)).toHaveLength(2);
});

const foreign =
  "Artikel;Preis;Bild;Seite;Lager\nA-1;12,90 €;//cdn.example/1.jpg;//shop.example/1;4\nA-2;1.234,50;//cdn.example/2.jpg;//shop.example/2;0\n";
const map = ["id=Artikel", "sku=Artikel", "title=Artikel", "price=Preis", "featured_image=Bild", "available=Lager"];
const mapped = [...map.flatMap((entry) => ["--map", entry]), "--map", "url=seite"];

test("columns of any other file are mapped, and the mapping is saved and read again", async () => {
  const { env, store, command, beside } = await prepare(foreign);
  const file = beside("mapping.json");
  const options = [...mapped, "--default", "description=Handmade", "--save-mapping", file];
  expect(await cliJson([...command, ...options], env)).toMatchObject({ imported: 2, created: 2 });
  const products = (await stored(store)).map(({ id, price, available, description, url }) => [
    id,
    Number(price),
    available,
    description,
    url,
  ]);
  expect(products).toEqual([
    ["A-1", 12.9, true, "Handmade", "//shop.example/1"],
    ["A-2", 1234.5, false, "Handmade", "//shop.example/2"],
  ]);
  expect(JSON.parse(await readFile(file, "utf8"))).toMatchObject({
    map: { id: "Artikel" },
    defaults: { description: "Handmade" },
  });
  expect(await cliJson([...command, "--mapping", file, "--default", "description=Other"], env)).toMatchObject({
    updated: 2,
  });
  expect((await stored(store)).map(({ description }) => description)).toEqual(["Other", "Other"]);
});

test("a file in another encoding is refused with the option that names it, and read with it", async () => {
  const content = Buffer.from(foreign.replace("A-1", "Stück-1").replace("€", "\u{80}"), "latin1");
  const { env, store, command } = await prepare(content);
  const { status, stderr } = await cli([...command, ...mapped], env);
  expect({ status, stderr }).toMatchObject({ status: 1, stderr: expect.stringContaining("--encoding windows-1252") });
  expect(await cliJson([...command, ...mapped, "--encoding", "windows-1252"], env)).toMatchObject({
    notes: ["The file was read as windows-1252."],
  });
  expect((await stored(store)).map(({ id }) => id)).toEqual(["A-2", "Stück-1"]);
});

test.each([
  ["--map", "name=Title", 'A product has no field "name"'],
  ["--map", "title", "Must be field=column."],
  ["--url-template", "shop/{sku}", "The URL template"],
  ["--delimiter", "x", "The delimiter must be a comma, a semicolon or a tab"],
  ["--encoding", "klingon", 'The encoding "klingon" is not known'],
  ["--format", "excel", "Allowed choices are auto, vitrine, shopify"],
  ["--one-per", "shop", "must be one of variant, product"],
  ["--rejects", "rejects.csv", "this one is read as shopify"],
  ["--map", "title=Nowhere", "There is no column 'Nowhere' for title in this file."],
])("%s %s is refused", async (option, value, reason) => {
  const { env, store, command } = await prepare(shopify);
  const { status, stderr, stdout } = await cli([...command, ...template, option, value], env);
  expect({ refused: status === 1 || status === 2, stdout, stderr }).toEqual({
    refused: true,
    stdout: "",
    stderr: expect.stringContaining(reason),
  });
  expect(await stored(store)).toEqual([]);
});
