import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { createTestStore, openTestApp, type TestStore } from "../../support/app.js";
import { readAnswer } from "../../support/call.js";
import { toCsv } from "../../support/catalog/csv.js";
import { importedAnswer, paths, products, storedProducts } from "../../support/products.js";
import { digestOf } from "../../support/stored.js";

// Over REST, a CSV of this length is not parsed with its body, but read where it stands; over GraphQL it is.
const app = await openTestApp();
/** For what is refused. */
const empty = await createTestStore(app);
const nothing = await digestOf(app, empty);

const rows = 310;
const list = products(rows, (index) => ({
  title: `Größe ${index} 👗 "quoted" \\n`,
  description: index % 3 === 0 ? "two\nlines\tand a tab\u2028" : "€".repeat(index % 50).padEnd(900, "x"),
  images: [`https://a.example/${index}.jpg`, "https://a.example/b.jpg"],
}));
const csvContent = toCsv(list);
const importCsv = `
  mutation ($csvContent: String!, $errorPolicy: ImportErrorPolicy) {
    importProductsCsv(csvContent: $csvContent, errorPolicy: $errorPolicy) {
      message imported created updated failed failures { line id sku problemsTotal problems { code message path line } }
    }
  }`;

const escaped = (text: string) =>
  text.replaceAll(/[^\x20-\x7e]/gu, (character) =>
    Array.from({ length: character.length }, (_, index) => {
      const unit = character.charCodeAt(index).toString(16).padStart(4, "0");
      return `\\u${index % 2 === 0 ? unit : unit.toUpperCase()}`;
    }).join(""),
  );
const json = JSON.stringify(csvContent);

async function post(store: TestStore, body: string | Uint8Array, headers: Record<string, string> = {}) {
  const sent = { "content-type": "application/json", ...headers };
  const request = { method: "POST", headers: sent, body: body as BodyInit, duplex: "half" } as RequestInit;
  return store.fetch(paths.csv, request);
}

async function expectAllStored(store: TestStore) {
  const stored = await storedProducts(app, store);
  const texts = ({ id, sku, title, description, images }: Record<string, any>) =>
    [id, sku, title, description || null, images].map(String);
  expect(stored.map(texts)).toEqual(list.map(texts));
}

describe("a long CSV is stored as it was sent", () => {
  test.each([
    ["as it is", `{"csvContent":${json}}`],
    ["with all that is not ASCII escaped", `{"csvContent":"${escaped(json.slice(1, -1))}"}`],
    ["with slashes escaped", `{"csvContent":${json.replaceAll("/", "\\/")}}`],
    ["before and after other members", `{"dryRun":false,\r\n "csvContent"\t: ${json} ,"errorPolicy":"REJECT_ALL"}\n`],
    ["named by an escaped name", `{"csv\\u0043ontent":${json}}`],
    ["named twice, which makes the last one count", `{"csvContent":"id", "csvContent":${json}}`],
    ["after a byte order mark, which counts for nothing", `\uFEFF{"csvContent":${json}}`],
  ])("%s", async (_, body) => {
    const store = await createTestStore(app);
    expect(await readAnswer(await post(store, body))).toEqual(importedAnswer(rows));
    await expectAllStored(store);
  });

  test("compressed, and in chunks of any size", async () => {
    const bytes = Buffer.from(`{"csvContent":${json}}`);
    const store = await createTestStore(app);
    expect(await readAnswer(await post(store, gzipSync(bytes), { "content-encoding": "gzip" }))).toEqual(
      importedAnswer(rows),
    );
    await expectAllStored(store);
    const body = new ReadableStream({
      start(controller) {
        for (let at = 0, size = 1; at < bytes.length; at += size, size = (size * 7 + 3) % 9_973) {
          controller.enqueue(bytes.subarray(at, at + size));
        }
        controller.close();
      },
    });
    expect(await readAnswer(await post(store, body as never))).toEqual(importedAnswer(0, rows));
  });

  test("under an Idempotency-Key once", async () => {
    const store = await createTestStore(app);
    const key = { "idempotency-key": "long" };
    const body = `{"csvContent":${json}}`;
    expect(await readAnswer(await post(store, body, key))).toEqual(importedAnswer(rows));
    const again = await post(store, body, key);
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expect(await readAnswer(again)).toEqual(importedAnswer(rows));
    expect(await readAnswer(await post(store, `${body} `, key))).toMatchObject({ status: 422 });
  });
});

describe("the problems of a long CSV are the same as over GraphQL", () => {
  const wrong = csvContent
    .replace("p00007,sku-p00007", "p00007,sku-p00008")
    .replace("p00303,", ",")
    .replace(/true(?=[^\n]*p00305)/u, "perhaps")
    .concat("p9,s,T\n");

  test.each(["REJECT_ALL", "REJECT_FAILED"])("with %s", async (errorPolicy) => {
    const [store, other] = [await createTestStore(app), await createTestStore(app)];
    const { body } = await readAnswer(await post(store, JSON.stringify({ csvContent: wrong, errorPolicy })));
    const { data, errors } = await other.graphql(importCsv, { csvContent: wrong, errorPolicy });
    const { errors: problems, errorsTotal } = errors?.[0]?.extensions ?? {};
    expect(body).toMatchObject(errors === undefined ? data.importProductsCsv : { errors: problems, errorsTotal });
    expect(await storedProducts(app, store)).toEqual(await storedProducts(app, other));
    expect((body.errorsTotal as number | undefined) ?? body.failed).toBeGreaterThan(2);
  });

  const shortJson = JSON.stringify(toCsv(products(1)));
  test.each([
    ["an unknown member", `{"csvContent":${json},"csv":1}`, "VALIDATION_FAILED", ["csv"]],
    ["a member of a wrong type", `{"csvContent":${json},"siteId":5}`, "VALIDATION_FAILED", ["siteId"]],
    ["the text in a list", `{"csvContent":[${json}]}`, "VALIDATION_FAILED", ["csvContent"]],
    ["the text in another member", `{"siteType":${json}}`, "VALIDATION_FAILED", ["csvContent"]],
    ["an unknown site", `{"csvContent":${json},"siteId":"none"}`, "SITE_NOT_FOUND", ["siteId"]],
    ["two long texts", `{"csvContent":${json},"siteId":${json}}`, "SITE_NOT_FOUND", ["siteId"]],
    [
      "a long text in another place",
      `{"csvContent":${shortJson},"errorPolicy":${json}}`,
      "VALIDATION_FAILED",
      ["errorPolicy"],
    ],
  ])("%s", async (_, body, code, path) => {
    const answer = await readAnswer(await post(empty, body));
    expect(answer.body).toMatchObject({ code, errors: [{ path }] });
    expect(await digestOf(app, empty)).toBe(nothing);
  });
});

describe("a body that is not JSON is refused, wherever the error is in a long CSV, and nothing is stored", () => {
  const at = (place: number, ...bytes: number[]) => {
    const body = Buffer.from(`{"csvContent":${json}}`);
    let start = Math.floor(body.length * place);
    while (body[start] !== 0x61) start += 1; // an "a": no part of an escape
    return Buffer.concat([body.subarray(0, start), Buffer.from(bytes), body.subarray(start)]);
  };
  const whole = `{"csvContent":${json}}`;

  test.each([
    ["bytes that are not UTF-8, early", at(0.1, 0xff)],
    ["bytes that are not UTF-8, late", at(0.9, 0xc3)],
    ["a line break", at(0.8, 0x0a)],
    ["a NUL", at(0.5, 0)],
    ["an escape that does not exist", at(0.95, 0x5c, 0x78)],
    ["an escape that is not whole", at(0.3, 0x5c, 0x75, 0x31, 0x7a)],
    ["a quote that ends it", at(0.5, 0x22)],
    ["no end", whole.slice(0, -10)],
    ["no end but an escaped quote", `${whole.slice(0, -2)}\\"`],
    ["something after the end", `${whole},`],
    ["something before it", `x${whole}`],
    ["a name without a value", `{"csvContent":${json}, "siteId"}`],
  ])("%s", async (name, body) => {
    for (const headers of [{}, { "idempotency-key": name.replaceAll(/\W/gu, "-") }]) {
      expect(await readAnswer(await post(empty, body, headers as Record<string, string>))).toMatchObject({
        status: 400,
        body: {
          code: "BAD_REQUEST",
          detail: expect.stringMatching(/^The body is not valid JSON in UTF-8: see line 1, column \d+\.$/u),
        },
      });
    }
    expect(await digestOf(app, empty)).toBe(nothing);
    expect(app.logged.filter((line) => line.includes('"level":50'))).toEqual([]);
  });
});
