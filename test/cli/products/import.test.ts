import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { readdir } from "node:fs/promises";
import zlib, { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { addSite } from "../../../src/stores/site.js";
import { toCsv } from "../../support/catalog/csv.js";
import { cli, openCommands } from "../../support/process/cli.js";
import { longRows, product, products } from "../../support/products.js";

const { env, temporary, db, run, json, refusal, newStore, fileOf } = await openCommands();

const header = "id,sku,title,description,price,price_min,price_max,available,images,featured_image,url";
const row = (n: number) =>
  `p-${n},S-${n},"Shirt, no. ${n}",,${n}.5,,,true,https://shop.example/${n}.jpg,https://shop.example/${n}.jpg,https://shop.example/${n}`;
const csv = (...rows: string[]) => [header, ...rows].join("\n");
const ndjson = (list: readonly object[]) => list.map((each) => `${JSON.stringify(each)}\n`).join("");

/** A new store, and the arguments that import a file with this content into it. */
async function prepare(content: string | Buffer, name = "products.csv") {
  const [store, file] = [await newStore(), await fileOf(content, name)];
  const ids = async () => {
    const found = await db.product.findMany({ where: { storeId: store }, orderBy: { id: "asc" } });
    return found.map(({ id }) => id);
  };
  return { store, file, ids, command: ["import", store, file] };
}

/** What the import of a file that must be refused says, line by line. */
async function refused(content: string | Buffer): Promise<string[]> {
  const { command, ids } = await prepare(content);
  const [status, text] = await refusal(...command, "--json");
  expect({ status, ids: await ids() }).toEqual({ status: 1, ids: [] });
  return text.split("\n");
}

/** Where the problems of the table are: line and column. */
const places = ([heading, ...problems]: string[]) => {
  expect(heading).toMatch(/^ {2}line {2}column +reason$/u);
  return problems.map((problem) => problem.trimStart().split(/ {2,}/u, 2).join(" "));
};

test("a file of many rows is imported whole, and again as replacements", async () => {
  const { store, command } = await prepare(csv(...Array.from({ length: longRows }, (_, n) => row(n))));
  expect(await json(...command)).toEqual({ store, imported: longRows, created: longRows, updated: 0 });
  const stdout = `${longRows} products were imported. 0 new, ${longRows} replaced.\n`;
  expect(await run(...command), "and no progress bar without a terminal").toEqual({ status: 0, stdout, stderr: "" });
});

describe("a file with problems stores nothing and ends with status 1", () => {
  test("every problem is reported with the line on which its record starts, and its column", async () => {
    const [reason, ...problems] = await refused(
      csv(
        row(1),
        'p-2,S-2,"A title\nof two lines",,x,,,true,,https://shop.example/2.jpg,https://shop.example/2',
        "p-3,S-3,,,,,,maybe,,https://shop.example/3.jpg,https://shop.example/3",
        "p-1,S-4,Again,,,,,true,,https://shop.example/4.jpg,https://shop.example/4",
      ),
    );
    expect(reason).toBe("4 problems. Nothing was stored.");
    expect(places(problems)).toEqual(["2 id", "3 price", "5 title", "5 available"]);
  });

  test("of more than a hundred problems the first hundred are listed and the rest counted", async () => {
    const lines = await refused(csv(...Array.from({ length: 150 }, (_, n) => row(n).replace("true", "maybe"))));
    expect(lines[0]).toBe("150 problems; the first 100 are listed. Nothing was stored.");
    expect(places(lines.slice(1, 102))).toEqual(Array.from({ length: 100 }, (_, n) => `${n + 2} available`));
    expect(lines.slice(102)).toEqual(["  … and 50 more"]);
  });

  test("what is wrong with the whole file is the reason", async () => {
    expect((await refused(`${header.replace("sku,", "")}\n`)).join("\n")).toContain("The column sku is required.");
  });
});

describe("with --error-policy reject-failed", () => {
  const policy = ["--error-policy", "reject-failed"];

  test("the rows that fail are listed by line, column and reason, the others are stored, and the exit status is 3", async () => {
    const rows = [
      row(1),
      row(2).replace("2.5", "-2.5"),
      row(3),
      row(4).replace("S-4", "S-5"),
      row(5),
      "p-6,S-6,too few",
    ];
    const { command, ids } = await prepare(csv(...rows));
    expect(await run(...command, ...policy)).toEqual({
      status: 3,
      stdout: "2 products were imported, 4 failed. 2 new, 0 replaced.\n",
      stderr: `  line  column  reason
  3     price   price must be a finite number of 0 or more, not -2.5.
  5     sku     sku "S-5" appears in more than one product of this import, first on line 5 and last on line 6.
  6     sku     sku "S-5" appears in more than one product of this import, first on line 5 and last on line 6.
  7             The row has 3 cells, but the header has 11.
`,
    });
    expect(await ids()).toEqual(["p-1", "p-3"]);
  });

  test("with --json the object has them, and nothing else is printed", async () => {
    const { command, store } = await prepare(csv(row(1), row(2).replace("2.5", "-2.5")));
    const { status, stdout, stderr } = await run(...command, "--json", ...policy);
    const message = "price must be a finite number of 0 or more, not -2.5.";
    const problems = [{ code: "INVALID_VALUE", message, line: 3, path: ["price"] }];
    const failure = { index: null, line: 3, id: "p-2", sku: "S-2", problems, problemsTotal: 1 };
    const result = { store, imported: 1, created: 1, updated: 0, failed: 1, failures: [failure] };
    expect({ status, stderr, result: JSON.parse(stdout) }).toEqual({ status: 3, stderr: "", result });
    const valid = await fileOf(csv(row(1)), "valid.csv");
    const none = { store, imported: 1, created: 0, updated: 1, failed: 0, failures: [] };
    expect(await json("import", store, valid, ...policy)).toEqual(none);
  });

  test("a dry run reports what would be done and stores nothing", async () => {
    const { command, ids } = await prepare(csv(row(1), row(2), row(3).replace("3.5", "-3.5")));
    const stdout = expect.stringMatching(
      /^2 products would be imported, 1 would fail\. Nothing was stored\. 2 new, 0 replaced\.\nThe first 2 products would/u,
    );
    expect(await run(...command, "--dry-run", ...policy)).toMatchObject({ status: 3, stdout });
    expect(await run(...command, "--dry-run")).toMatchObject({ status: 1, stdout: "" });
    expect(await ids()).toEqual([]);
  });
});

test("a path that cannot be imported is refused in one line", async () => {
  const { store, file } = await prepare(gzipSync(csv(row(1))).subarray(0, 50), "broken.csv.gz");
  const folder = dirname(file);
  const missing = join(folder, "missing.csv.gz");
  expect(await refusal("import", store, missing)).toEqual([1, `There is no file ${missing}.`]);
  expect(await refusal("import", store, folder)).toEqual([1, `${folder} is a folder, not a file.`]);
  expect(await refusal("import", store, file)).toEqual([
    1,
    expect.stringContaining("is not compressed as its name says, or is incomplete"),
  ]);
});

test("--site assigns the products to a site of the store", async () => {
  const { store, command } = await prepare(csv(row(1)));
  const unknown = expect.stringContaining("The store has no site with this siteId.");
  expect(await refusal(...command, "--site", "de")).toEqual([1, unknown]);
  await addSite(db, store, "de", "SHOP");
  await json(...command, "--site", "de");
  const assigned = await db.productSite.findMany({ where: { storeId: store } });
  expect(assigned).toEqual([{ storeId: store, siteId: "de", productId: "p-1" }]);
});

describe("standard input", () => {
  const importing = async (input: string) => {
    const { status, stdout, stderr } = await cli(["import", await newStore(), "-"], env, {
      stdin: Readable.from([Buffer.from(input)]),
    });
    expect(await readdir(temporary), "whether the import succeeds or fails").toEqual([]);
    return { status, printed: stdout + stderr };
  };

  test.each([
    ["NDJSON where it begins with a brace", ndjson(products(2)), 0, "2 products were imported."],
    ["CSV otherwise", csv(row(1), row(2)), 0, "2 products were imported."],
    ["CSV that is empty", "", 1, "The CSV text is empty"],
  ])("is %s", async (_, input, status, printed) => {
    expect(await importing(input)).toEqual({ status, printed: expect.stringContaining(printed) });
  });
});

describe("NDJSON", () => {
  test("as a patch changes only the given fields, and a dry run shows the first products", async () => {
    const { store, command } = await prepare(ndjson([product("a"), product("b")]), "products.ndjson");
    await json(...command);
    const patches = await fileOf(ndjson([{ id: "a", title: "New" }, { id: "none" }]), "patch.jsonl");
    const patch = ["import", store, patches, "--mode", "patch", "--error-policy", "reject-failed", "--json"];
    const { status, stdout } = await run(...patch, "--dry-run");
    const shown = [{ id: "a", title: "New" }, { id: "none" }];
    expect([status, JSON.parse(stdout)]).toMatchObject([3, { imported: 1, failed: 1, products: shown }]);
    expect((await run(...patch)).status).toBe(3);
    const stored = await db.product.findMany({ where: { storeId: store }, orderBy: { id: "asc" } });
    expect(stored).toMatchObject([{ title: "New" }, { title: "Title b" }]);
  });

  test("takes no option of other formats", async () => {
    const { command } = await prepare(ndjson(products(1)), "products.ndjson");
    const reason = expect.stringContaining("Options about formats do not apply to NDJSON");
    for (const option of [
      ["--format", "shopify"],
      ["--delimiter", ";"],
    ]) {
      expect(await refusal(...command, ...option)).toEqual([1, reason]);
    }
  });
});

const { zstdCompressSync } = zlib as { zstdCompressSync?: (bytes: Buffer) => Buffer };

test("compressed files are read: gzip, and zstd where Node.js has it", async () => {
  const bytes = Buffer.from(ndjson(products(2)));
  const zipped = await prepare(gzipSync(bytes), "products.ndjson.gz");
  expect(await json(...zipped.command)).toMatchObject({ created: 2 });
  const { command } = await prepare(zstdCompressSync?.(bytes) ?? "", "products.ndjson.zst");
  const { status, stderr } = await run(...command);
  const expected = zstdCompressSync === undefined ? [1, "cannot read zstd"] : [0, ""];
  expect([status, stderr]).toEqual([expected[0], expect.stringContaining(String(expected[1]))]);
});

describe("--mode", () => {
  test("replace keeps only the rows of the file, within --max-deletions", async () => {
    const { store, command } = await prepare(toCsv(products(30)));
    await json(...command);
    const some = ["import", store, await fileOf(toCsv(products(12)), "some.csv"), "--mode"];
    expect(await refusal(...some, "Replace")).toEqual([
      1,
      "This import would remove 18 of 30 products, but maxDeletions allows 10. Nothing was stored.",
    ]);
    const allowed = ["replace", "--max-deletions", "18"];
    const forecast = "12 products would be imported, 18 would be deleted. Nothing was stored. 0 new, 12 replaced.";
    expect((await run(...some, ...allowed, "--dry-run")).stdout).toContain(`${forecast}\n`);
    const replaced = { store, imported: 12, created: 0, updated: 12, deleted: 18 };
    expect(await json(...some, ...allowed)).toEqual(replaced);
    const fewer = ["import", store, await fileOf(toCsv(products(11)), "fewer.csv"), "--mode", ...allowed];
    expect((await run(...fewer)).stdout).toBe("11 products were imported, 1 deleted. 0 new, 11 replaced.\n");
  });

  test("replace deletes nothing for a file of which no product is stored, unless --max-deletions says so", async () => {
    const { store, command, ids } = await prepare(toCsv(products(3)));
    await json(...command);
    const fault = "would remove 3 of 3 products and store none, which only maxDeletions allows.";
    const failing = await fileOf(toCsv([{ ...product("p"), price: -1 }]), "failing.csv");
    const replace = ["import", store, failing, "--mode", "replace", "--rejects", `${failing}.rejects`];
    const { status, stderr } = await run(...replace);
    expect([status, stderr]).toEqual([
      1,
      expect.stringContaining(`vitrine: This import ${fault} Nothing was stored.\n`),
    ]);
    expect((await run(...replace, "--dry-run")).stdout).toContain(`The import would be refused: it ${fault}`);
    expect(await ids()).toHaveLength(3);
    const empty = await fileOf(toCsv([]), "empty.csv");
    const allowed = ["import", store, empty, "--mode", "replace", "--max-deletions", "3"];
    expect((await run(...allowed)).stdout).toContain("0 products were imported, 3 deleted.");
    expect(await ids()).toEqual([]);
  });

  test("patch changes only the columns of the file, and refuses files of other systems", async () => {
    const { store, command } = await prepare(toCsv(products(3, () => ({ description: "Kept", price: 1 }))));
    await json(...command);
    const file = await fileOf("sku,price\nsku-p00000,9.5\nsku-p00001,\n", "patch.csv");
    const patch = ["import", store, file, "--mode", "patch"];
    const stdout = "2 products were updated. 0 new, 2 changed.\n";
    expect(await run(...patch)).toEqual({ status: 0, stdout, stderr: "" });
    const stored = await db.product.findMany({ where: { storeId: store }, orderBy: { id: "asc" } });
    expect(stored.map(({ price, description }) => [price?.toNumber() ?? null, description])).toEqual([
      [9.5, "Kept"],
      [null, "Kept"],
      [1, "Kept"],
    ]);
    const reason = "The mode PATCH reads files of other systems only with mapped columns.";
    expect(await refusal(...patch, "--format", "shopify")).toEqual([1, expect.stringContaining(reason)]);
  });

  test("takes no count of deletions that is not a whole number", async () => {
    const reason = expect.stringContaining("Must be a whole number, 0 or more.");
    for (const count of ["-1", "1.5", "many", ""]) {
      const given = ["import", "a", "none.csv", "--mode", "replace", "--max-deletions", count];
      expect(await refusal(...given)).toEqual([2, reason]);
    }
  });
});
