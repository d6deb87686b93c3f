// @tier all
import { execFile, spawn } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { createTestStore, openTestApp } from "../../support/app.js";
import { toCsv } from "../../support/catalog/csv.js";
import { ndjsonOf } from "../../support/catalog/ways.js";
import { examplesOf } from "../../support/docs.js";
import { folderForTest } from "../../support/folder.js";
import { importedAnswer, paths, product, products, storedProducts } from "../../support/products.js";

const app = await openTestApp();

/** The script of docs/imports.md, in a folder of its own. */
async function prepare() {
  const page = await readFile(new URL("../../../docs/imports.md", import.meta.url), "utf8");
  const block = examplesOf(page).find(({ block: { text } }) => text.startsWith("cat > sync.sh"));
  const script = /<<'SCRIPT'\n([\s\S]*?)SCRIPT\n/u.exec(block?.block.text ?? "")?.[1] ?? "";
  expect(script).toContain("--retry");
  const folder = await folderForTest();
  await writeFile(join(folder, "sync.sh"), script.replaceAll("http://127.0.0.1:4000", app.url));
  return folder;
}

async function run(folder: string, token: string, feed: string, ...args: readonly string[]) {
  await writeFile(join(folder, "feed.csv"), feed);
  const env = { ...process.env, TOKEN: token };
  const child = spawn("sh", ["sync.sh", "feed.csv", ...args], { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
  let printed = "";
  child.stdout.on("data", (text: Buffer) => (printed += text.toString()));
  const status = await new Promise((resolve) => child.once("close", resolve));
  return { status, answer: JSON.parse(printed) as Readonly<Record<string, unknown>> };
}

test("the nightly sync over a week of feeds: a rollback, a truncated feed, an empty one, bad rows, the same feed twice", async () => {
  const [folder, store] = [await prepare(), await createTestStore(app)];
  const feedOf = (count: number, price: number) =>
    toCsv(Array.from({ length: count }, (_, n) => product(`p-${n}`, { price: price + n })));
  const sync = (feed: string, ...args: readonly string[]) => run(folder, store.token, feed, ...args);
  const prices = async () => {
    const list = await storedProducts(app, store);
    return [list.length, list[0]?.price];
  };
  const [monday, tuesday] = [feedOf(40, 10), feedOf(44, 20)];

  expect(await sync(monday)).toMatchObject({ status: 0, answer: { created: 40, deleted: 0 } });
  expect(await sync(tuesday)).toMatchObject({ status: 0, answer: { created: 4, updated: 40 } });
  expect(await prices()).toEqual([44, 20]);
  expect(await sync(monday)).toMatchObject({ status: 0, answer: { updated: 40, deleted: 4 } }); // a rollback, on the same day
  expect(await prices()).toEqual([40, 10]);

  const truncated = await sync(monday.split("\n").slice(0, 11).join("\n"));
  expect(truncated).toMatchObject({ status: 22, answer: { code: "TOO_MANY_DELETIONS" } });
  for (const empty of [`${monday.split("\n", 1)[0] ?? ""}\n`, ""]) {
    expect((await sync(empty)).status).toBe(22);
  }
  expect(await prices()).toEqual([40, 10]);

  const bad = feedOf(40, 30).replace("https://shop.example/p-0.jpg", "N/A");
  expect(await sync(`${bad},,,,\n,,,,\n`)).toMatchObject({
    status: 1,
    answer: { imported: 39, failed: 1, deleted: 0 },
  });
  expect(await prices()).toEqual([40, 10]);

  for (let time = 0; time < 2; time += 1) {
    expect(await sync(feedOf(41, 50))).toMatchObject({ status: 0, answer: { failed: 0 } });
    expect(await prices()).toEqual([41, 50]);
  }
  expect(await sync(feedOf(1, 60), "1000")).toMatchObject({ status: 0, answer: { deleted: 40 } });
});

test.each([
  [paths.csv, "text/csv", toCsv],
  [paths.bulk, "application/x-ndjson", ndjsonOf],
])("curl sends a file to %s with --data-binary, and in chunks with -T", async (path, type, write) => {
  const store = await createTestStore(app);
  const file = join(await folderForTest(), "products");
  await writeFile(file, write(products(30, () => ({ description: "d".repeat(10_000) }))));
  const curl = (...args: string[]) => promisify(execFile)("curl", ["-sS", "-X", "POST", ...common, ...args]);
  const common = ["-H", `X-Service-Access-Token: ${store.token}`, "-H", `Content-Type: ${type}`];
  const plain = await curl("--data-binary", `@${file}`, `${app.url}${path}`);
  expect(JSON.parse(plain.stdout)).toEqual(importedAnswer(30).body);
  const chunks = ["-H", "Transfer-Encoding: chunked", "-H", "Expect: 100-continue", "-T", file, `${app.url}${path}`];
  expect(JSON.parse((await curl(...chunks)).stdout)).toEqual(importedAnswer(0, 30).body);
});
