import { once } from "node:events";
import { get } from "node:http";
import { expect, test } from "vitest";
import { deleteStore } from "../../../src/stores/store.delete.js";
import { issueToken } from "../../../src/stores/token.js";
import { revokeToken } from "../../../src/stores/token.replace.js";
import { exportPlaces } from "../../../src/catalog/export/export.js";
import { importProducts } from "../../../src/catalog/import/entryPoints/jsonProducts.js";
import { createTestStore, openTestApp, type TestStore, storeAt } from "../../support/app.js";
import { stopTimers } from "../../support/clock.js";
import { storedEvents, storeWithShow, view } from "../../support/events.js";
import { until } from "../../support/until.js";
import { paths, product, products, storedKeys } from "../../support/products.js";
import { beginPost, type SlowRequest } from "../../support/http/slowRequest.js";

const app = await openTestApp({ productRateLimit: 0, analyticsRateLimit: 0 });

/** As the server answers at the latest 5 seconds after the end of a token. */
const noticedMs = 5_000;

type End = (store: TestStore, tokenId: string) => Promise<unknown>;

const revoke: End = ({ id }, tokenId) => revokeToken(app.db, id, tokenId);

const ends: readonly (readonly [string, End])[] = [
  ["was revoked", revoke],
  [
    "has expired",
    ({ id: storeId }, id) => app.db.accessToken.update({ where: { id, storeId }, data: { expiresAt: new Date() } }),
  ],
  ["was deleted with its store", ({ id }) => deleteStore(app.db, id, 0)],
];

/** A second token of a store, which the server knows. */
async function another({ id }: Pick<TestStore, "id">) {
  const { id: tokenId, token } = await issueToken(app.db, id);
  const store = storeAt(app.url, { id, token });
  await store.get(paths.of("none"));
  return { store, tokenId };
}

async function expectUnauthenticated({ answer }: SlowRequest): Promise<void> {
  const { status, body } = await answer;
  expect(status).toBe(401);
  expect(body.code ?? body.errors[0].extensions.code).toBe("UNAUTHENTICATED");
}

const linesOf = (from: number, count: number) =>
  Array.from({ length: count }, (_, n) => `${JSON.stringify(view(`e${from + n}`))}\n`).join("");
const csvHeader = "id,sku,title,available,featured_image,url\n";
const csvRow = "b,b,B,true,https://a.example,https://a.example\n";

test.each(ends)(
  "once a token %s, a stream of events is answered, and the rest of it is not recorded",
  async (_, end) => {
    const { store: owner, lsId } = await storeWithShow(app, "LIVE");
    const { store, tokenId } = await another(owner);
    const timers = stopTimers();
    const path = `/external/analytics/v1/live-streams/${lsId}/events`;
    const stream = await beginPost(app.url, path, store, "application/x-ndjson");
    stream.write(linesOf(0, 2_000));
    await until(async () => (await storedEvents(app, store)) === 2_000, "the first events");
    let isEnded = false;
    const ending = end(store, tokenId).finally(() => (isEnded = true));
    await until(async () => (await timers.run(10), isEnded), "the token to end"); // a deletion pauses for others
    await ending;
    await timers.run(noticedMs);
    await expectUnauthenticated(stream);
    stream.end(linesOf(2_000, 2_000));
    const later = await owner.post(path, { events: [view("later")] }); // what is sent later is recorded later
    expect(await storedEvents(app, store)).toBe(later.status === 200 ? 2_001 : 0);
  },
);

test.each([
  ["NDJSON", paths.bulk, "application/x-ndjson", "", JSON.stringify(product("b"))],
  ["CSV", paths.csv, "text/csv", csvHeader, csvRow],
])("once a token has ended, a file of %s is answered while it is sent", async (_, path, type, first, rest) => {
  const owner = await createTestStore(app);
  const { store, tokenId } = await another(owner);
  const timers = stopTimers();
  const sent = await beginPost(app.url, path, store, type);
  sent.write(`${first}\n`);
  await revoke(store, tokenId);
  await timers.run(noticedMs);
  await expectUnauthenticated(sent);
  sent.end(rest);
  await owner.post(paths.one, { product: product("later") });
  expect(Object.keys(await storedKeys(app, store))).toEqual(["later"]);
});

const json = JSON.stringify({ products: [product("b")] });
const mutation = `mutation ($products: [ProductInput!]!) {
  one: importProducts(products: $products) { imported } two: importProducts(products: $products) { imported } }`;
test.each([
  ["a body of JSON", paths.bulk, json],
  ["a GraphQL mutation", "/graphql", JSON.stringify({ query: mutation, variables: { products: [product("b")] } })],
  ["a GraphQL query", "/graphql", JSON.stringify({ query: '{ product(productId: "b") { id } }' })],
])("once a token has ended, %s that arrives slowly is refused", async (_, path, body) => {
  const { store, tokenId } = await another(await createTestStore(app));
  const timers = stopTimers();
  const sent = await beginPost(app.url, path, store, "application/json");
  sent.write(body.slice(0, 20));
  await revoke(store, tokenId);
  await timers.run(noticedMs);
  sent.end(body.slice(20));
  await expectUnauthenticated(sent);
  expect(await storedKeys(app, store)).toEqual({});
});

test("once a token has ended, an export is cut off, also where its client reads slowly", async () => {
  const owner = await createTestStore(app);
  const { store, tokenId } = await another(owner);
  const timers = stopTimers();
  const large = products(400, () => ({ description: "x".repeat(30_000) })); // more than sockets take
  await importProducts(app.db, store.id, large);
  // Unlike fetch, this takes nothing from the socket before it is read: the system keeps little for a client that has not read.
  const [response] = await once(
    get(`${app.url}${paths.ndjson}`, { headers: { "X-Service-Access-Token": store.token } }),
    "response",
  );
  expect(response.statusCode).toBe(200);
  await revoke(store, tokenId);
  await timers.run(noticedMs);
  await until(() => exportPlaces.held === 0, "the export to be cut off, though nobody reads");
  let bytes = 0;
  const reading = async () => {
    for await (const chunk of response) bytes += chunk.length;
  };
  await expect(reading()).rejects.toThrow("aborted");
  expect(bytes).toBeLessThan(large.length * 30_000);
});
