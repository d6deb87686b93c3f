// @engine postgresql
import { expect, test } from "vitest";
import { issueToken } from "../../../src/stores/token.js";
import { revokeToken } from "../../../src/stores/token.replace.js";
import type { Database } from "../../../src/database/client.js";
import { inTransaction } from "../../../src/database/transaction.js";
import { createTestStore, openTestApp, storeAt, testDatabase, type TestStore } from "../../support/app.js";
import { stopClock } from "../../support/clock.js";
import { storedEvents, view } from "../../support/events.js";
import { longRows, paths, product, products, storedKeys } from "../../support/products.js";
import { saved } from "../../support/shows.js";
import { until } from "../../support/until.js";

/** Attempts to take a lock of PostgreSQL. */
let attempts = 0;
const app = await openTestApp(
  {},
  testDatabase((sql) => void (attempts += Number(sql.includes("advisory")))),
);

const show = "show";
const csv = `id,sku,title,available,featured_image,url\n${products(longRows)
  .map(({ id, sku, title, featured_image: image, url }) => `${id},${sku},${title},true,${image},${url}\n`)
  .join("")}`;
const file = (store: TestStore) =>
  store
    .fetch(paths.csv, { method: "POST", headers: { "content-type": "text/csv" }, body: csv })
    .then(async (answer) => ({ status: answer.status, body: await answer.json() }));

test.each<[string, (id: string) => string, (store: TestStore) => Promise<unknown>]>([
  ["for another import", (id) => `catalog ${id}`, (store) => store.post(paths.one, { product: product("b") })],
  ["for a long import", (id) => `catalog ${id}`, file],
  [
    "for a show",
    (id) => `live stream ${id} ${show}`,
    (store) => store.post(`/external/analytics/v1/live-streams/${show}/events`, { events: [view("e")] }),
  ],
  [
    "for another request of its key",
    (id) => `import ${id} k`,
    (store) =>
      store
        .fetch(paths.one, {
          method: "POST",
          headers: { "content-type": "application/json", "idempotency-key": "k" },
          body: JSON.stringify({ product: product("b") }),
        })
        .then(async (answer) => ({ status: answer.status, body: await answer.json() })),
  ],
])("a request whose token is revoked while it waits %s writes nothing", async (_, lockOf, send) => {
  const owner = await createTestStore(app);
  await saved(owner, { id: show, status: "LIVE" });
  const { id: tokenId, token } = await issueToken(app.db, owner.id);
  const store = storeAt(app.url, { id: owner.id, token });
  await store.get(paths.of("none"));
  const clock = stopClock();
  let answer: Promise<unknown> | undefined;
  const hold = async (transaction: Database): Promise<void> => {
    await transaction.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${lockOf(owner.id)}, 0))::text`;
    const before = attempts;
    answer = send(store);
    await revokeToken(app.db, owner.id, tokenId);
    await until(() => attempts > before, "the request to find the lock held");
    clock.pass(4_000); // longer than the token is trusted, and less than the request waits
  };
  await inTransaction(app.db, { timeoutMs: 60_000 }, hold);
  expect(await answer).toMatchObject({ status: 401, body: { code: "UNAUTHENTICATED" } });
  expect(await storedKeys(app, owner)).toEqual({});
  expect(await storedEvents(app, owner)).toBe(0);
});
