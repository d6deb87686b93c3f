// @tier all
import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createStore } from "../../../src/access/stores/store.js";
import { cli, cliJson, openSharedPlace } from "../../support/process/cli.js";
import { vitrine, vitrineJson } from "../../support/process.js";
import { longRowsOfProcess } from "../../support/products.js";

const { place, database } = await openSharedPlace();

const header = "id,sku,title,description,price,price_min,price_max,available,images,featured_image,url";
const row = (n: number) =>
  `p-${n},S-${n},"Shirt, no. ${n}",,${n}.5,,,true,https://shop.example/${n}.jpg,https://shop.example/${n}.jpg,https://shop.example/${n}`;
const csv = (...rows: string[]) => [header, ...rows].join("\n");

/** A new store, and a command that imports a file with this content into it. */
async function prepare(content: string | Buffer) {
  const { env, dataDir } = place;
  const store = `store-${randomUUID()}`;
  await createStore(database.client, store, "Test store");
  const file = join(dataDir, `${store}.csv`);
  await writeFile(file, content);
  return { env, store, file, command: ["import", store, file] };
}

/** What the import of a file that must be refused says, line by line. */
async function refusal(content: string | Buffer): Promise<string[]> {
  const { env, command, store } = await prepare(content);
  const { status, stdout, stderr } = await cli([...command, "--json"], env);
  const stored = await database.client.product.count({ where: { storeId: store } });
  expect({ status, stdout, stored }).toEqual({ status: 1, stdout: "", stored: 0 });
  return stderr.trimEnd().split("\n");
}

/** Where the problems of the table are: line and column. */
const places = ([heading, ...problems]: string[]) => {
  expect(heading).toMatch(/^ {2}line {2}column +reason$/u);
  return problems.map((problem) => problem.trimStart().split(/ {2,}/u, 2).join(" "));
};

test("a file of 2,100 rows is imported whole, and again as replacements", async () => {
  const { env, store, command } = await prepare(csv(...Array.from({ length: longRowsOfProcess }, (_, n) => row(n))));
  expect(await vitrineJson(command, env)).toEqual({
    store,
    imported: longRowsOfProcess,
    created: longRowsOfProcess,
    updated: 0,
  });
  expect(await cliJson(command, env)).toEqual({
    store,
    imported: longRowsOfProcess,
    created: 0,
    updated: longRowsOfProcess,
  });
});

test("without --json the counts are a sentence, and without a terminal there is no progress bar", async () => {
  const { env, command } = await prepare(csv(row(1), row(2)));
  const stdout = "2 products were imported. 2 new, 0 replaced.\n";
  expect(await cli(command, env)).toEqual({ status: 0, stdout, stderr: "" });
});

test("a file with a header alone imports nothing and succeeds", async () => {
  const { env, store, command } = await prepare(header);
  expect(await cliJson(command, env)).toEqual({ store, imported: 0, created: 0, updated: 0 });
});

describe("a file with problems stores nothing and ends with status 1", () => {
  test("every problem is reported with the line on which its record starts, and its column", async () => {
    const [reason, ...problems] = await refusal(
      csv(
        row(1),
        'p-2,S-2,"A title\nof two lines",,x,,,true,,https://shop.example/2.jpg,https://shop.example/2',
        "p-3,S-3,,,,,,maybe,,https://shop.example/3.jpg,https://shop.example/3",
        "p-1,S-4,Again,,,,,true,,https://shop.example/4.jpg,https://shop.example/4",
      ),
    );
    expect(reason).toBe("vitrine: 4 problems. Nothing was stored.");
    expect(places(problems)).toEqual(["2 id", "3 price", "5 title", "5 available"]);
  });

  test("a single problem is reported with its line too", async () => {
    const [reason, ...problems] = await refusal(csv(row(1), row(2).replace("2.5", "-2.5")));
    expect(reason).toMatch(/^vitrine: \S/u);
    expect(places(problems)).toEqual(["3 price"]);
  });

  test("of more than a hundred problems the first hundred are listed and the rest counted", async () => {
    const lines = await refusal(csv(...Array.from({ length: 150 }, (_, n) => row(n).replace("true", "maybe"))));
    expect(lines[0]).toBe("vitrine: 150 problems; the first 100 are listed. Nothing was stored.");
    expect(places(lines.slice(1, 102))).toEqual(Array.from({ length: 100 }, (_, n) => `${n + 2} available`));
    expect(lines.slice(102)).toEqual(["  … and 50 more"]);
  });

  test.each([
    ["an empty file", ""],
    ["a file that is not UTF-8", Buffer.from(csv(row(1).replace("Shirt", "Hös")), "latin1")],
    ["a missing column", `${header.replace("sku,", "")}\n`],
    ["an unknown column", `${header},colour\n${row(1)},red`],
    ["a quote that is never closed", csv(row(1), 'p-2,S-2,"Shirt')],
  ])("%s is refused with a reason", async (_, content) => {
    const [reason, ...problems] = await refusal(content);
    expect(reason).toMatch(/^vitrine: \S/u);
    if (problems.length > 0) expect(places(problems)).not.toEqual([]);
  });
});

describe("with --error-policy reject-failed", () => {
  const mixed = () =>
    csv(row(1), row(2).replace("2.5", "-2.5"), row(3), row(4).replace("S-4", "S-5"), row(5), "p-6,S-6,too few");

  test("the rows that fail are listed by line, column and reason, the others are stored, and the exit status is 3", async () => {
    const { env, command, store } = await prepare(mixed());
    expect(await vitrine([...command, "--error-policy", "reject-failed"], env)).toEqual({
      status: 3,
      stdout: "2 products were imported, 4 failed. 2 new, 0 replaced.\n",
      stderr: `  line  column  reason
  3     price   price must be a finite number of 0 or more, not -2.5.
  5     sku     sku "S-5" appears in more than one product of this import, first on line 5 and last on line 6.
  6     sku     sku "S-5" appears in more than one product of this import, first on line 5 and last on line 6.
  7             The row has 3 cells, but the header has 11.
`,
    });
    const stored = await database.client.product.findMany({ where: { storeId: store }, orderBy: { id: "asc" } });
    expect(stored.map(({ id }) => id)).toEqual(["p-1", "p-3"]);
  });

  test("with --json the object has them, and nothing else is printed", async () => {
    const { env, command, store } = await prepare(csv(row(1), row(2).replace("2.5", "-2.5")));
    const { status, stdout, stderr } = await cli([...command, "--json", "--error-policy", "reject-failed"], env);
    const message = "price must be a finite number of 0 or more, not -2.5.";
    const problems = [{ code: "INVALID_VALUE", message, line: 3, path: ["price"] }];
    const failure = { index: null, line: 3, id: "p-2", sku: "S-2", problems, problemsTotal: 1 };
    const result = { store, imported: 1, created: 1, updated: 0, failed: 1, failures: [failure] };
    expect({ status, stderr, result: JSON.parse(stdout) }).toEqual({ status: 3, stderr: "", result });
  });

  test("a valid file exits with 0, and an unknown policy is a usage error", async () => {
    const { env, command, store } = await prepare(csv(row(1)));
    const result = { store, imported: 1, created: 1, updated: 0, failed: 0, failures: [] };
    expect(await cliJson([...command, "--error-policy", "reject-failed"], env)).toEqual(result);
    expect(await cli([...command, "--error-policy", "reject-some"], env)).toMatchObject({ status: 2, stdout: "" });
  });
});

test("a dry run reports what would be done and stores nothing", async () => {
  const { env, command, store } = await prepare(csv(row(1), row(2), row(3).replace("3.5", "-3.5")));
  const partly = await cli([...command, "--dry-run", "--error-policy", "reject-failed"], env);
  expect(partly).toMatchObject({
    status: 3,
    stdout: expect.stringMatching(
      /^2 products would be imported, 1 would fail\. Nothing was stored\. 2 new, 0 replaced\.\nThe first 2 products as/u,
    ),
  });
  expect(await cli([...command, "--dry-run"], env)).toMatchObject({ status: 1, stdout: "" });
  expect(await database.client.product.count({ where: { storeId: store } })).toBe(0);
});

describe("a path that cannot be imported is refused in one line", () => {
  test("a path without a file, and a folder", async () => {
    const { env, store } = await prepare("");
    const [missing, folder] = await Promise.all([
      cli(["import", store, join(place.dataDir, "missing.csv")], env),
      cli(["import", store, place.dataDir], env),
    ]);
    expect(missing).toMatchObject({
      status: 1,
      stdout: "",
      stderr: `vitrine: There is no file ${join(place.dataDir, "missing.csv")}.\n`,
    });
    expect(folder).toMatchObject({
      status: 1,
      stdout: "",
      stderr: expect.stringMatching(/^vitrine: [^\n]+ is a folder, not a file\.\n$/u),
    });
  });

  test("an unknown store", async () => {
    const { env, file } = await prepare(csv(row(1)));
    const stderr = "vitrine: There is no store nobody.\n";
    expect(await cli(["import", "nobody", file], env)).toEqual({ status: 1, stdout: "", stderr });
  });
});
