import { expect, test } from "vitest";
import { exportPlaces } from "../../../src/catalog/export/export.js";
import { paths, product, products, storedKeys } from "../../support/products.js";
import { useShortTimeoutServer } from "../../support/http/shortTimeoutServer.js";
import { createTestStore, openTestApp, storeAt, type TestStore } from "../../support/app.js";
import { until } from "../../support/until.js";
import { converse, onlyAnswer } from "../../support/http/socket.js";
import { toCsv } from "../../support/catalog/csv.js";

const server = useShortTimeoutServer();
/** For requests that a busy machine may take longer to send than the other server waits. */
const patient = await openTestApp();

const requestHead = (method: string, store: TestStore, headers = "") =>
  `${method} ${paths.csv} HTTP/1.1\r\nHost: x\r\nX-Service-Access-Token: ${store.token}\r\n${headers}\r\n`;

test("exports that nobody reads are cut off, and then others can start; no product is lost", async () => {
  const store = await createTestStore(server.app);
  const list = products(300, () => ({ description: "long ".repeat(10_000) })); // 15 MB: more than the system buffers
  for (const half of [list.slice(0, 150), list.slice(150)]) {
    expect((await storeAt(patient.url, store).post(paths.bulk, { products: half })).status).toBe(200);
  }
  const stalled = Array.from({ length: 4 }, () => converse(server.app.url, requestHead("GET", store)));
  for (const { socket } of stalled) socket.once("data", () => socket.pause());
  await until(() => stalled.every((each) => each.received().startsWith("HTTP/1.1 200")), "four exports to begin");
  // Whoever does not read holds nothing of the database.
  expect((await store.post(paths.one, { product: product("meanwhile") })).status).toBe(200);
  expect(Object.keys(await storedKeys(server.app, store))).toHaveLength(301);
  await expect.poll(() => exportPlaces.held).toBe(0);
  for (const { socket } of stalled) socket.resume();
  await Promise.all(stalled.map((each) => each.closed()));
  for (const each of stalled) expect(each.received()).not.toMatch(/\r\n0\r\n\r\n$/u); // the end of a whole answer
  const exported = await store.fetch(paths.csv);
  expect((await exported.text()).split("\n")).toHaveLength(303);
});

test("files that stop arriving are refused with 408, and then others can be sent; nothing is stored", async () => {
  const store = await createTestStore(server.app);
  const body = toCsv(products(500, () => ({ description: "d".repeat(2_800) }))); // kept in temporary files
  const headers = `Content-Type: text/csv\r\nContent-Length: ${body.length}\r\n`;
  const sent = requestHead("POST", store, headers) + body.slice(0, body.length / 2);
  const stopped = Array.from({ length: 4 }, () => converse(server.app.url, sent));
  await Promise.all(stopped.map((each) => each.closed()));
  for (const each of stopped) expect(onlyAnswer(each.received())).toMatchObject({ status: 408 });
  expect(await storedKeys(server.app, store)).toEqual({});
  const whole = await store.fetch(paths.csv, { method: "POST", headers: { "content-type": "text/csv" }, body });
  expect(await whole.json()).toMatchObject({ imported: 500 });
});
