import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { importCsv } from "../../src/catalog/import/entryPoints/fileProducts.js";
import { AppError } from "../../src/errors.js";
import { createTestStore, openTestApp, type TestStore } from "../support/app.js";
import { openFolder } from "../support/folder.js";
import { checkedRest } from "../support/fuzz/fuzz.answers.js";
import { storedRows } from "../support/fuzz/fuzz.catalog.js";
import { harmDone, sendRaw } from "../support/fuzz/fuzz.js";
import { toJson, writeJson } from "../support/fuzz/fuzz.json.js";
import { texts } from "../support/fuzz/fuzz.values.js";
import { paths, product, products } from "../support/products.js";
import { toCsv } from "../support/catalog/csv.js";
import { digestOf } from "../support/stored.js";

const app = await openTestApp({ bulkProductsMax: 50 });
const folder = await openFolder();

const json = { "content-type": "application/json" };
const header = "id,sku,title,description,price,price_min,price_max,available,images,featured_image,url";
const columns = header.split(",");

/** What may stand in a cell of each column, or of any. */
const cells = (name: string) =>
  fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom<string>(...(usual[name] ?? ["https://shop.example/a"])) },
    { weight: 1, arbitrary: texts },
  );
const usual: Readonly<Record<string, readonly [string, ...string[]]>> = {
  id: ["a", "b", "c", "d", "e", "f", "g", "h"],
  sku: ["1", "2", "3", "4", "5", "6", "7", "8"],
  title: ["Mug", " Mug", "Mug\t ", "Pot, large", 'Say "hi"', "two\nlines"],
  description: ["", "", " ", "x\r\ny"],
  price: ["", "1", "0.10", "1e308", "1e-320", "-0", "1e309", "01"],
  price_min: ["", "0"],
  price_max: ["", " 5 "],
  available: ["true", "FALSE", " True ", "yes"],
  url: ["https://shop.example/a", " https://shop.example/a "],
  images: [
    "",
    " //a.example",
    ' ["//a.example"]',
    "//a.example",
    '["//a.example","//b.example"]',
    "[]",
    "[",
    '["//a.example",1]',
    "null",
  ],
};
const rows = fc.array(fc.record(Object.fromEntries(columns.map((name) => [name, cells(name)]))), { maxLength: 3 });

const quoted = (cell: string) => `"${cell.replaceAll('"', '""')}"`;
const needsQuotes = /[",\r\n]/u;

/** Files note characters that nobody sees at the ends of ids and skus, and go without them; JSON refuses them. */
function visibleOf(key: string): string {
  const hasInvisibleEnd = /^\s*[\p{Cc}\p{Cf}]|[\p{Cc}\p{Cf}]\s*$/u.test(key);
  return hasInvisibleEnd ? key.replaceAll(/^[\p{Cc}\p{Cf}\s]+|[\p{Cc}\p{Cf}\s]+$/gu, "") : key;
}

/** The value that the documented rules make of a cell: trimmed, unless it is quoted. */
function valueOf(name: string, text: string, isQuoted: boolean): unknown {
  const cell = isQuoted ? text : text.trim();
  if (name.startsWith("price")) {
    return cell === "" ? null : /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/u.test(cell) ? Number(cell) : cell;
  }
  if (name === "available") return /^(?:true|false)$/iu.test(cell) ? cell.toLowerCase() === "true" : cell || null;
  if (name === "id" || name === "sku") return visibleOf(cell) || null;
  if (name !== "images") return cell === "" ? null : cell;
  if (!cell.startsWith("[")) return cell === "" ? null : [cell];
  try {
    return JSON.parse(cell);
  } catch {
    return cell;
  }
}

/** Problems as both styles know them: which row, which field, what. */
function placed(errors: readonly any[], rowOf: (problem: any) => number) {
  return errors
    .map((problem) => `${rowOf(problem)} ${problem.code} ${problem.path.slice(problem.line === undefined ? 2 : 1)}`)
    .toSorted();
}

function postCsv(store: TestStore, csvContent: string) {
  return sendRaw(app, store, {
    method: "POST",
    path: paths.csv,
    headers: json,
    body: JSON.stringify({ csvContent }),
  });
}

const [one, other] = [await createTestStore(app), await createTestStore(app)];

/** Makes both stores new: others would take half of the time. */
const removeProducts = () =>
  Promise.all([one, other].map(({ id: storeId }) => app.db.product.deleteMany({ where: { storeId } })));

test("whatever cells hold, and however they are written, a CSV stores what the same products in JSON store, or has the same problems", async () => {
  const layout = fc.record({
    rows,
    quoteAll: fc.boolean(),
    lineEnd: fc.constantFrom("\n", "\r\n", "\r"),
    bom: fc.boolean(),
  });
  const property = fc.asyncProperty(layout, async ({ rows: list, quoteAll, lineEnd, bom }) => {
    await removeProducts();
    let [text, line] = [`${bom ? "\uFEFF" : ""}${header}${lineEnd}`, 2];
    const lines: number[] = [];
    const isQuoted = (cell: string) => quoteAll || needsQuotes.test(cell);
    for (const row of list) {
      lines.push(line);
      const record = columns.map((name) => (isQuoted(row[name] ?? "") ? quoted(row[name] ?? "") : row[name]));
      text += `${record.join(",")}${lineEnd}`;
      line = text.split(/\r\n|\r|\n/u).length;
    }
    const value = (name: string, cell = "") => valueOf(name, cell, isQuoted(cell));
    const sent = list.map((row) => Object.fromEntries(columns.map((name) => [name, value(name, row[name])])));
    const answer = await postCsv(one, text);
    const body = checkedRest(answer);
    const fromJson = await sendRaw(app, other, {
      method: "POST",
      path: paths.bulk,
      headers: json,
      body: writeJson(toJson({ products: sent })),
    });
    const otherBody = checkedRest(fromJson);
    if (answer.status === 200 || fromJson.status === 200) {
      const isNoted = list.some((row) =>
        ["id", "sku"].some((name) => {
          const key = isQuoted(row[name] ?? "") ? (row[name] ?? "") : (row[name] ?? "").trim();
          return visibleOf(key) !== key;
        }),
      );
      expect(body).toEqual(
        isNoted ? { ...otherBody, notes: [expect.stringContaining("control and format characters")] } : otherBody,
      );
      expect(await storedRows(app, one)).toEqual(await storedRows(app, other));
      return;
    }
    expect(placed(body.errors, (problem) => lines.indexOf(problem.line))).toEqual(
      placed(otherBody.errors, ({ path }) => path[1]),
    );
    expect(await storedRows(app, one)).toEqual([]);
  });
  await fc.assert(property);
  expect(harmDone(app)).toEqual([]);
});

const valid = toCsv([product("a", { title: "Größe 👗", description: 'two\n"lines"' }), ...products(2)]);
const noise = fc.array(
  fc.oneof(
    fc.constantFrom(
      ",",
      '"',
      '""',
      "\n",
      "\r",
      "\r\n",
      " ",
      "\t",
      ";",
      "|",
      "\0",
      "\uFEFF",
      "\u2028",
      "\u0085",
      "'",
      "\\",
    ),
    texts,
  ),
  { maxLength: 12 },
);
/** A valid text with something cut out and something put in at any places, or no such text at all. */
const anyText = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .tuple(fc.nat(valid.length), fc.nat(12), noise)
      .map(([at, cut, put]) => valid.slice(0, at) + put.join("") + valid.slice(at + cut)),
  },
  { weight: 1, arbitrary: noise.map((parts) => `${header}\n${parts.join("")}`) },
  { weight: 1, arbitrary: noise.map((parts) => parts.join("")) },
  { weight: 1, arbitrary: fc.constantFrom(0, 45_000).map((lines) => `${valid}x,"${"y,\n".repeat(lines)}`) },
);

/** Imports a file as `vitrine import` does. Gives the counts, or the problems that it names. @throws whatever is no AppError */
async function importFile(store: TestStore, bytes: Buffer): Promise<any> {
  const file = join(folder, `${store.id}.csv`);
  await writeFile(file, bytes);
  try {
    return await importCsv(app.db, store.id, { file }, { pathPrefix: ["csvContent"], productsMax: 50 });
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { code: error.code, errors: error.problems, errorsTotal: error.problemsTotal };
  } finally {
    await rm(file);
  }
}

test("whatever text is sent as CSV, it is stored as from a file with the same text, or refused for the same problems", async () => {
  const property = fc.asyncProperty(anyText, async (text) => {
    await removeProducts();
    const before = await digestOf(app, one);
    const answer = await postCsv(one, text);
    const body = checkedRest(answer);
    if (answer.status !== 200) expect(await digestOf(app, one)).toBe(before);
    if (!text.isWellFormed()) return;
    const { code, errors, errorsTotal } = body;
    expect(await importFile(other, Buffer.from(text))).toMatchObject(
      answer.status === 200 ? body : { code, errors, errorsTotal },
    );
    expect(await storedRows(app, other)).toEqual(await storedRows(app, one));
  });
  await fc.assert(property);
  expect(harmDone(app)).toEqual([]);
});

test("whatever bytes a file holds, it is imported whole or refused with its problems named", async () => {
  const bytes = fc
    .tuple(fc.nat(valid.length), fc.uint8Array({ maxLength: 6 }), fc.boolean())
    .map(([at, put, alone]) => {
      const whole = Buffer.from(valid);
      return alone ? Buffer.from(put) : Buffer.concat([whole.subarray(0, at), put, whole.subarray(at)]);
    });
  const store = await createTestStore(app);
  const property = fc.asyncProperty(bytes, async (content) => {
    const before = await digestOf(app, store);
    const { code, errors = [], imported } = await importFile(store, content);
    const refused = { code: "VALIDATION_FAILED", named: true, changed: false };
    const changed = (await digestOf(app, store)) !== before;
    if (imported === undefined) expect({ code, named: errors.length > 0, changed }).toEqual(refused);
  });
  await fc.assert(property);
  expect(harmDone(app)).toEqual([]);
});
