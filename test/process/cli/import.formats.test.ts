// @tier all
import { randomUUID } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import iconv from "iconv-lite";
import { expect, test } from "vitest";
import { createStore } from "../../../src/access/stores/store.js";
import { cli, cliJson, openSharedPlace } from "../../support/process/cli.js";

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
  expect({ status, stderr }).toMatchObject({ status: 1, stderr: expect.stringContaining("It may be windows-1252") });
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

const template2 = ["--url-template", "https://shop.example/{sku}"];
const article = "Art;Name;Preis;Bild;Seite\n";
const good = "K-1;Käse;9,90;https://cdn.example/1;https://shop.example/1\n";
const bad = "K-2;Brötchen;günstig;https://cdn.example/2;https://shop.example/2\n";
const mapping = "id=Art sku=Art title=Name price=Preis featured_image=Bild url=Seite"
  .split(" ")
  .flatMap((pair) => ["--map", pair]);

test.each([
  ["windows-1252", { addBOM: false }, ["--encoding", "windows-1252"]],
  ["utf-16le", { addBOM: true }, []],
  ["utf-16be", { addBOM: false }, []],
  ["utf-8", { addBOM: false }, []],
] as const)(
  "--rejects of a mapped file in %s has the rows that failed, and is imported again",
  async (encoding, marks, more) => {
    const { env, store, command, beside } = await prepare(iconv.encode(article + good + bad, encoding, marks));
    const rejects = beside("rejected.csv");
    const options = [...mapping, "--default", "available=true", ...more];
    const { status } = await cli([...command, ...options, "--rejects", rejects], env);
    expect(status).toBe(3);
    const written = await readFile(rejects, "utf8");
    expect(written.replace("\uFEFF", "")).toBe(article + bad);
    await writeFile(rejects, written.replace("günstig", "1,50"));
    expect(await cliJson(["import", store, rejects, ...options], env)).toMatchObject({ imported: 1, created: 1 });
    expect((await stored(store)).map(({ id, title }) => [id, title])).toEqual([
      ["K-1", "Käse"],
      ["K-2", "Brötchen"],
    ]);
  },
);

test("--rejects of another system's file keeps what the rows take from others", async () => {
  const { env, store, command, beside } = await prepare(`${shopify}mug,,,,Green,M-G,cheap,\n`);
  const rejects = beside("rejected.csv");
  expect((await cli([...command, ...template, "--rejects", rejects], env)).status).toBe(3);
  const written = await readFile(rejects, "utf8");
  await writeFile(rejects, written.replace("cheap", "14"));
  expect(await cliJson(["import", store, rejects, ...template], env)).toMatchObject({
    imported: 3,
    created: 1,
    updated: 2,
  });
  expect((await stored(store)).map(({ id, title }) => [id, title])).toContainEqual(["M-G", "Mug - Green"]);
});

test("--rejects of a feed in XML has the items that failed", async () => {
  const item = (id: string, price: string) =>
    `<item><g:id>${id}</g:id><g:title>Größe</g:title><g:link>https://shop.example/${id}</g:link><g:image_link>https://cdn.example/${id}</g:image_link><g:price>${price}</g:price><g:availability>in stock</g:availability></item>\n`;
  const feed = (...items: string[]) =>
    `<?xml version="1.0" encoding="ISO-8859-1"?>\n<rss xmlns:g="http://base.google.com/ns/1.0"><channel>\n${items.join("")}</channel></rss>`;
  const { env, store, command, beside } = await prepare(
    iconv.encode(feed(item("a", "1"), item("b", "cheap"), item("c", "3")), "latin1"),
    "feed.xml",
  );
  const rejects = beside("rejected.xml");
  expect((await cli([...command, "--rejects", rejects], env)).status).toBe(3);
  const written = await readFile(rejects, "utf8");
  expect(written.replaceAll(/\n+/gu, "")).toBe(`\uFEFF${feed(item("b", "cheap"))}`.replaceAll(/\n+/gu, ""));
  await writeFile(rejects, written.replace("cheap", "2"));
  expect(await cliJson(["import", store, rejects], env)).toMatchObject({ imported: 1, created: 1 });
  expect((await stored(store)).map(({ title }) => title)).toEqual(["Größe", "Größe", "Größe"]);
});

test("a dry run shows what each column is used for", async () => {
  const { env, command } = await prepare(shopify);
  const { stdout } = await cli([...command, ...template, "--dry-run"], env);
  expect(stdout).toContain(
    "The file is read as shopify, with these columns:\n  Handle → what rows of a product share\n  Title → title\n",
  );
  expect((await cliJson([...command, ...template, "--dry-run"], env))["columns"]).toMatchObject({
    "Variant Price": "price",
    "Variant SKU": "sku",
  });
});

test("--explain shows one row: each cell, what it became, and why", async () => {
  const { env, command, store } = await prepare(`${shopify}mug,,,,Green,M-G,cheap,\n`);
  const shown = await cli([...command, ...template, "--explain", "3"], env);
  expect(shown).toMatchObject({ status: 0, stderr: "" });
  for (const text of [
    "The row on line 3, read as shopify:",
    /Variant Price +13,50 +price +price = 13\.5/u,
    /Vendor +not used/u,
    "It takes what it lacks from lines 2, 4.",
    '"title": "Mug - Blue"',
  ]) {
    expect(shown.stdout).toMatch(text);
  }
  const failing = await cliJson([...command, ...template, "--explain", "4"], env);
  expect(failing).toMatchObject({ line: 4, problems: ['price must be a number, not "cheap".'] });
  expect(failing).not.toHaveProperty("product");
  const refused = await cli([...command, ...template, "--explain", "0"], env);
  expect(refused.status).toBe(2);
  expect((await cli([...command, ...template, "--explain", "1"], env)).stderr).toContain("has no row on line 1.");
  expect(await stored(store)).toEqual([]);
});

test.each([
  ["products.json", '[{"id":"a"}]', "The file is JSON"],
  ["products.csv", gzipSync("id,sku"), "Give it a name that ends in .gz"],
  [
    "products.csv",
    Buffer.from("504b0304140006000800000021005b436f6e74656e745f54797065735d2e786d6c", "hex"),
    "an Excel workbook",
  ],
])("%s that is no CSV is named, and what to do", async (name, content, message) => {
  const { env, command } = await prepare(content, name);
  const { status, stderr } = await cli([...command, ...template2], env);
  expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining(message) });
});
