import { readFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { openCommands } from "../../support/process/cli.js";

const { db, run, json, refusal, newStore, fileOf } = await openCommands();

async function prepare(content: string | Buffer, name = "products.csv") {
  const [store, file] = [await newStore(), await fileOf(content, name)];
  const stored = () => db.product.findMany({ where: { storeId: store }, orderBy: { id: "asc" } });
  return { store, file, stored, command: ["import", store, file] };
}

const shopify = `Handle,Title,Vendor,Published,Option1 Value,Variant SKU,Variant Price,Image Src
mug,Mug,Northern,true,Red,M-R,"12,90",https://cdn.example/mug.jpg
mug,,,,Blue,M-B,"13,50",https://cdn.example/mug-2.jpg
`;
const template = ["--url-template", "https://shop.example/products/{handle}"];

test("a file of another system is recognized and stored, and unused columns are reported", async () => {
  const { store, command, stored } = await prepare(shopify);
  const told = { format: "shopify", notes: ["Column 'Vendor' is not used."] };
  const counts = { store, imported: 2, created: 2, updated: 0 };
  expect(await json(...command, ...template)).toEqual({ ...counts, ...told });
  expect((await stored()).map(({ id, title, url }) => [id, title, url])).toEqual([
    ["M-B", "Mug - Blue", "https://shop.example/products/mug"],
    ["M-R", "Mug - Red", "https://shop.example/products/mug"],
  ]);
});

test("a dry run shows the first products and what each column is used for, and stores nothing", async () => {
  const { command, stored } = await prepare(shopify);
  const { status, stdout, stderr } = await run(...command, ...template, "--dry-run");
  expect({ status, stderr }).toEqual({ status: 0, stderr: "  Column 'Vendor' is not used.\n" });
  expect(stdout).toMatch(/The first 2 products would be stored as:\n\{\n {2}"id": "M-R",/u);
  expect(stdout).toContain(
    "The file is read as shopify, with these columns:\n  Handle → what rows of a product share\n  Title → title\n",
  );
  expect(await json(...command, ...template, "--dry-run")).toMatchObject({
    columns: { "Variant Price": "price", "Variant SKU": "sku" },
    products: [
      { id: "M-R", price: 12.9 },
      { id: "M-B", price: 13.5 },
    ],
  });
  expect(await stored()).toEqual([]);
});

test("incomplete rows are reported with their line, and the others are stored", async () => {
  const { command, stored } = await prepare(`${shopify}cup,,,,,C-1,5,\n`);
  const { status, stderr } = await run(...command, ...template, "--error-policy", "reject-failed");
  expect([status, stderr]).toEqual([3, expect.stringMatching(/4 +title +title is required\./u)]);
  expect(await stored()).toHaveLength(2);
});

const foreign =
  "Artikel;Preis;Bild;Seite;Lager\nA-1;12,90 €;//cdn.example/1.jpg;//shop.example/1;4\nA-2;1.234,50;//cdn.example/2.jpg;//shop.example/2;0\n";
const map = ["id=Artikel", "sku=Artikel", "title=Artikel", "price=Preis", "featured_image=Bild", "available=Lager"];
const mapped = [...map, "url=seite"].flatMap((entry) => ["--map", entry]);

test("columns of any other file are mapped, and the mapping is saved and read again", async () => {
  const { command, file, stored } = await prepare(foreign);
  const saved = `${file}.mapping.json`;
  const options = [...mapped, "--default", "description=Handmade", "--save-mapping", saved];
  expect(await json(...command, ...options)).toMatchObject({ imported: 2, created: 2 });
  const products = (await stored()).map((each) => {
    const { id, price, available, description, url } = each;
    return { id, price: Number(price), available, description, url };
  });
  expect(products).toEqual([
    { id: "A-1", price: 12.9, available: true, description: "Handmade", url: "//shop.example/1" },
    { id: "A-2", price: 1234.5, available: false, description: "Handmade", url: "//shop.example/2" },
  ]);
  const written = { map: { id: "Artikel" }, defaults: { description: "Handmade" } };
  expect(JSON.parse(await readFile(saved, "utf8"))).toMatchObject(written);
  const again = ["--mapping", saved, "--default", "description=Other"];
  expect(await json(...command, ...again)).toMatchObject({ updated: 2 });
  expect((await stored()).map(({ description }) => description)).toEqual(["Other", "Other"]);
});

test("a file in another encoding is refused with the option that names it, and read with it", async () => {
  const content = Buffer.from(foreign.replace("A-1", "Stück-1").replace("€", "\u{80}"), "latin1");
  const { command, stored } = await prepare(content);
  expect(await refusal(...command, ...mapped)).toEqual([1, expect.stringContaining("It may be windows-1252")]);
  const notes = ["The file was read as windows-1252."];
  expect(await json(...command, ...mapped, "--encoding", "windows-1252")).toMatchObject({ notes });
  expect((await stored()).map(({ id }) => id)).toEqual(["A-2", "Stück-1"]);
});

const refusals: [string[], number, string][] = [
  [["--map", "name=Title"], 1, 'A product has no field "name"'],
  [["--map", "title"], 2, "Must be field=column."],
  [["--url-template", "shop/{sku}"], 1, "The URL template"],
  [["--delimiter", "x"], 1, "The delimiter must be a comma, a semicolon or a tab"],
  [["--encoding", "klingon"], 1, 'The encoding "klingon" is not known'],
  [["--format", "excel"], 2, "Allowed choices are auto, vitrine, shopify"],
  [["--one-per", "shop"], 1, "must be one of variant, product"],
  [["--map", "title=Nowhere"], 1, "There is no column 'Nowhere' for title in this file."],
  [["--explain", "0"], 2, "--explain"],
  [["--explain", "1"], 1, "has no row on line 1."],
];

test("an option that does not fit the file, or nothing, is refused with the reason", async () => {
  const { command, stored } = await prepare(shopify);
  for (const [option, status, reason] of refusals) {
    const refused = await refusal(...command, ...template, ...option);
    expect([option, ...refused]).toEqual([option, status, expect.stringContaining(reason)]);
  }
  expect(await stored()).toEqual([]);
});

test("--explain shows one row: each cell, what it became, and why", async () => {
  const { command, stored } = await prepare(`${shopify}mug,,,,Green,M-G,cheap,\n`);
  const shown = await run(...command, ...template, "--explain", "3");
  expect(shown).toMatchObject({ status: 0, stderr: "" });
  for (const text of [
    "The row on line 3, read as shopify:",
    /Variant Price +13,50 +price +price = 13\.5/u,
    /Vendor +not used/u,
    "It inherits empty cells from lines 2, 4.",
    '"title": "Mug - Blue"',
  ]) {
    expect(shown.stdout).toMatch(text);
  }
  const failing = await json(...command, ...template, "--explain", "4");
  expect(failing).toMatchObject({ line: 4, problems: ['price must be a number, not "cheap".'] });
  expect(failing).not.toHaveProperty("product");
  expect(await stored()).toEqual([]);
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
  const { command } = await prepare(content, name);
  expect(await refusal(...command, ...template)).toEqual([1, expect.stringContaining(message)]);
});
