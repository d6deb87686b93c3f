import { expect, test } from "vitest";
import { exportPlaces } from "../../../src/catalog/export/export.js";
import { uploadPlaces } from "../../../src/server/content/upload.js";
import { Prisma } from "../../../src/generated/prisma/client.js";
import { createTestStore, openTestApp, testDatabase, type TestStore } from "../../support/app.js";
import { toCsv } from "../../support/catalog/csv.js";
import { ofTest } from "../../support/citus/recording.js";
import { converse, onlyAnswer } from "../../support/http/socket.js";
import { paths, product, products, storedKeys } from "../../support/products.js";

/** Short, since clients that stop are waited for. */
const timeouts = { requestTimeoutMs: 500, keepAliveTimeoutMs: 500, stalledTimeoutMs: 300, checkIntervalMs: 50 };
const impatient = await openTestApp({}, testDatabase(), timeouts);
/** For requests that a busy machine may take longer for. */
const patient = await openTestApp();

const requestHead = (method: string, store: TestStore, headers = "") =>
  `${method} ${paths.csv} HTTP/1.1\r\nHost: x\r\nX-Service-Access-Token: ${store.token}\r\n${headers}\r\n`;

test("an export that nobody reads is cut off, and keeps nobody waiting meanwhile", async () => {
  const store = await createTestStore(patient);
  // 13 MB: more than the system buffers.
  await patient.db.$executeRaw`${Prisma.raw(ofTest(""))}
    INSERT INTO "Product" ("storeId", id, sku, title, description, available, images, "featuredImage", url, "searchWords", "createdAt", "updatedAt")
    SELECT ${store.id}, 'p' || n, 's' || n, 'Title', repeat('long', 16000), true, '{}', '', '', '', now(), now()
    FROM generate_series(1, 200) AS n`;
  const stalled = converse(impatient.url, requestHead("GET", store));
  const begun = new Promise((resolve) => {
    stalled.socket.once("data", () => resolve(stalled.socket.pause()));
  });
  await begun;
  // Whoever does not read holds nothing of the database.
  expect((await store.post(paths.one, { product: product("meanwhile") })).status).toBe(200);
  await expect.poll(() => exportPlaces.held).toBe(0);
  stalled.socket.resume();
  await stalled.closed();
  expect(stalled.received()).toMatch(/^HTTP\/1\.1 200/u);
  expect(stalled.received()).not.toMatch(/\r\n0\r\n\r\n$/u); // the end of a whole answer
  expect((await (await store.fetch(paths.csv)).text()).split("\n")).toHaveLength(203);
});

test("a file that stops arriving is refused with 408, and leaves its place; nothing is stored", async () => {
  const store = await createTestStore(patient);
  const body = toCsv(products(30, () => ({ description: "d".repeat(20_000) }))); // kept in a temporary file
  const headers = `Content-Type: text/csv\r\nContent-Length: ${body.length}\r\n`;
  const stopped = converse(impatient.url, requestHead("POST", store, headers) + body.slice(0, body.length / 2));
  await stopped.closed();
  expect(onlyAnswer(stopped.received())).toMatchObject({ status: 408 });
  await expect.poll(() => uploadPlaces.held).toBe(0);
  expect(await storedKeys(patient, store)).toEqual({});
  const whole = await store.fetch(paths.csv, { method: "POST", headers: { "content-type": "text/csv" }, body });
  expect(await whole.json()).toMatchObject({ imported: 30 });
});
