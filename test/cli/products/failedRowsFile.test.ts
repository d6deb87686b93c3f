import { readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import iconv from "iconv-lite";
import { expect, test } from "vitest";
import { openCommands } from "../../support/process/cli.js";
import { longRows, product, products } from "../../support/products.js";

const { db, run, json, refusal, newStore, fileOf } = await openCommands();

const header = "id;sku;title;price;available;featured_image;url";
const row = (n: number, price: number | string = n) =>
  `p-${n};S-${n};"Shirt\n""no. ${n}""";${price};true;https://shop.example/${n}.jpg;https://shop.example/${n}`;
const csv = (...rows: readonly string[]) => `\uFEFF${[header, ...rows].join("\r\n")}`;

/** A new store, and the arguments that import a file with this content into it. */
async function prepare(content: string | Buffer, name = "products.csv") {
  const [store, file] = [await newStore(), await fileOf(content, name)];
  const folder = dirname(file);
  const rejects = join(folder, `rejected.${name}`);
  const stored = () => db.product.findMany({ where: { storeId: store }, orderBy: { id: "asc" } });
  return { store, file, folder, rejects, stored, command: ["import", store, file, "--rejects", rejects] };
}

// More than are listed, and of each kind: invalid, duplicate, in conflict, malformed; short and long imports.
test.for([210, longRows + 1])(
  "of %i rows all that fail are written unchanged, so that they can be corrected and imported",
  async (count) => {
    const { store, file, folder, rejects, stored, command } = await prepare(csv(row(1), row(2)));
    await json(...command);
    expect(await readFile(rejects, "utf8")).toBe(`${header}\n`);
    const rows = Array.from({ length: count }, (_, n) => row(n, n % 2 === 0 ? n : "cheap"));
    const conflict = row(count + 1).replace(`S-${count + 1}`, "S-1");
    const others = [row(count + 2), row(count + 2), conflict, "p;too few"];
    await writeFile(file, csv(...rows, ...others));
    const { status, stdout } = await run(...command, "--json");
    const counts = { imported: count / 2, failed: count / 2 + 4, rejects };
    expect([status, JSON.parse(stdout)]).toMatchObject([3, counts]);
    const failing = [...rows.filter((_, n) => n % 2 === 1), ...others];
    expect(await readFile(rejects, "utf8")).toBe(`${[header, ...failing].join("\n")}\n`);
    expect((await readdir(folder)).toSorted()).toEqual(["products.csv", "rejected.products.csv"]);
    const mended = [...rows.map((_, n) => row(n)).filter((_, n) => n % 2 === 1), row(count + 2), ""];
    await writeFile(rejects, [header, ...mended].join("\n"));
    await json("import", store, rejects);
    expect(await stored()).toHaveLength(count + 1);
  },
);

test("it replaces an older file only when the import has succeeded, and a dry run writes it too", async () => {
  const { file, rejects, folder, stored, command } = await prepare(csv(row(1)).replace("url", "colour"));
  await writeFile(rejects, "older");
  expect((await run(...command)).status).toBe(1);
  expect([await readFile(rejects, "utf8"), (await readdir(folder)).length]).toEqual(["older", 2]);
  await writeFile(file, csv(row(1), row(2, "cheap")));
  const { status, stderr } = await run(...command, "--dry-run");
  expect([status, await readFile(rejects, "utf8")]).toEqual([3, `${header}\n${row(2, "cheap")}\n`]);
  expect(stderr).toContain(`The rows that failed are in ${rejects}.`);
  expect(await stored()).toEqual([]);
});

test("it is refused for the imported file, a path that is not a file, one that cannot be written, and with reject-all", async () => {
  const { store, folder, file, rejects, stored } = await prepare(csv(row(1)));
  const missing = join(folder, "missing", "rejected.csv");
  const refusals = [
    [[file], 1, `${file} is the imported file: name another one for the rejected rows.`],
    [[folder], 1, `${folder} is not a file that can be replaced.`],
    [[missing], 1, `${missing} cannot be written: there is no folder ${join(folder, "missing")}.`],
    [
      [rejects, "--error-policy", "reject-all"],
      2,
      "--rejects needs --error-policy reject-failed: with reject-all, all rows are rejected. (see --help)",
    ],
  ] as const;
  for (const [options, status, reason] of refusals) {
    expect(await refusal("import", store, file, "--rejects", ...options)).toEqual([status, reason]);
  }
  expect([await stored(), await readdir(folder)]).toEqual([[], ["products.csv"]]);
});

const lines = (list: readonly object[]) => list.map((each) => `${JSON.stringify(each)}\n`).join("");

test("it has the lines of NDJSON that failed, unchanged", async () => {
  const bad = [
    lines([product("cheap", { price: -1 })]),
    `{"id": "cut off\n`,
    lines([product("twin"), product("twin")]),
    lines([product("huge", { description: "d".repeat(300_000) })]),
    lines([{ ...product("last"), colour: "red" }]).trimEnd(),
  ].join("");
  const { rejects, command } = await prepare(`${lines(products(longRows))}\n${bad}`, "products.ndjson");
  const { status, stdout } = await run(...command, "--json");
  expect([status, JSON.parse(stdout)]).toMatchObject([3, { imported: longRows, failed: 6, rejects }]);
  expect(await readFile(rejects, "utf8")).toBe(bad);
});

const mapping = "id=Art sku=Art title=Name price=Preis featured_image=Bild url=Seite";
const mapped = [...mapping.split(" ").flatMap((pair) => ["--map", pair]), "--default", "available=true"];
const article = "Art;Name;Preis;Bild;Seite\n";
const good = "K-1;Käse;9,90;https://cdn.example/1;https://shop.example/1\n";
const bad = "K-2;Brötchen;günstig;https://cdn.example/2;https://shop.example/2\n";
const shopify = `Handle,Title,Vendor,Published,Option1 Value,Variant SKU,Variant Price,Image Src
mug,Mug,Northern,true,Red,M-R,"12,90",https://cdn.example/mug.jpg\n`;
const template = ["--url-template", "https://shop.example/products/{handle}"];
const item = (id: string, price: string) =>
  `<item><g:id>${id}</g:id><g:title>Größe</g:title><g:link>https://shop.example/${id}</g:link><g:image_link>https://cdn.example/${id}</g:image_link><g:price>${price}</g:price><g:availability>in stock</g:availability></item>\n`;
const feed = (...items: string[]) =>
  `<?xml version="1.0" encoding="ISO-8859-1"?>\n<rss xmlns:g="http://base.google.com/ns/1.0"><channel>\n${items.join("")}</channel></rss>`;

/** A file of others, of which a part is rejected. */
interface Foreign {
  readonly what: string;
  readonly content: Buffer;
  readonly name?: string;
  readonly options: readonly string[];
  readonly rejected: string;
  /** What is replaced in the rejected part, so that it can be imported. */
  readonly mend: readonly [from: string, to: string];
  /** Of all products then. */
  readonly titles: readonly string[];
}

const foreign: readonly Foreign[] = [
  ...(
    [
      ["windows-1252", { addBOM: false }, ["--encoding", "windows-1252"]],
      ["utf-16le", { addBOM: true }, []],
    ] as const
  ).map(([encoding, marks, more]): Foreign => ({
    what: `a mapped file in ${encoding}`,
    content: iconv.encode(article + good + bad, encoding, marks),
    options: [...mapped, ...more],
    rejected: article + bad,
    mend: ["günstig", "1,50"],
    titles: ["Käse", "Brötchen"],
  })),
  {
    what: "another system's file, which has what the rows take from others",
    content: Buffer.from(`${shopify}mug,,,,Green,M-G,cheap,\n`),
    options: template,
    rejected: `${shopify}mug,,,,Green,M-G,cheap,\n`,
    mend: ["cheap", "14"],
    titles: ["Mug - Green", "Mug - Red"],
  },
  {
    what: "a feed in XML",
    name: "feed.xml",
    content: iconv.encode(feed(item("a", "1"), item("b", "cheap"), item("c", "3")), "latin1"),
    options: [],
    rejected: feed(item("b", "cheap")),
    mend: ["cheap", "2"],
    titles: ["Größe", "Größe", "Größe"],
  },
];

test.each(foreign)("it is in UTF-8, and is imported with the same options: $what", async (given) => {
  const { content, name, options, rejected, mend, titles } = given;
  const { store, rejects, stored, command } = await prepare(content, name);
  expect((await run(...command, ...options)).status).toBe(3);
  const written = await readFile(rejects, "utf8");
  const withoutBlankLines = (text: string) => text.replace("\uFEFF", "").replaceAll(/\n+/gu, "\n").trim();
  expect(withoutBlankLines(written)).toBe(withoutBlankLines(rejected));
  await writeFile(rejects, written.replace(...mend));
  expect(await json("import", store, rejects, ...options)).toMatchObject({ created: 1 });
  expect((await stored()).map(({ title }) => title)).toEqual(titles);
});
