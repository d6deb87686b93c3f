import { describe, expect, onTestFinished, test } from "vitest";
import { createIdentify } from "../../../src/stores/token.js";
import { eraseViewer } from "../../../src/events/erase.js";
import { recordEvents } from "../../../src/events/record/events.record.js";
import { idBytes } from "../../../src/events/record/eventValues.sql.js";
import { removeHook } from "../../../src/orders/hooks/hook.js";
import { createGroupCommit } from "../../../src/events/collect/group.js";
import { importFrom, type ImportOptions } from "../../../src/catalog/import/import.js";
import type { ProductSource } from "../../../src/catalog/import/importTypes.js";
import { importProducts, listSource } from "../../../src/catalog/import/entryPoints/jsonProducts.js";
import { connect } from "../../../src/database/open.js";
import { onBehalfOf } from "../../../src/database/shares/caller.js";
import { forStore, sharesOf } from "../../../src/database/shares/forStore.js";
import { inTransaction } from "../../../src/database/transaction.js";
import { AppError } from "../../../src/errors.js";
import { createTestStore, openTestApp, type TestStore } from "../../support/app.js";
import { givenDatabase } from "../../support/database/database.js";
import { storedEvents, storeWithShow, view } from "../../support/events.js";
import { stopClock } from "../../support/clock.js";
import { asInputs } from "../../support/figures.js";
import { hookOf, shopifyOrder } from "../../support/figures/hooks.js";
import { longRows, products } from "../../support/products.js";
import { saved } from "../../support/shows.js";
import { digestOf } from "../../support/stored.js";
import { until } from "../../support/until.js";

const app = await openTestApp();

const gone = new AppError("UNAUTHENTICATED", "The access token is not valid.");

/** A client on behalf of a token that is ended by the test. */
function callerOf({ id }: Pick<TestStore, "id">, tokenId = "token") {
  let asked = 0;
  let endsAfter = Infinity;
  const confirm = async (): Promise<void> => {
    asked += 1;
    if (asked > endsAfter) throw gone;
  };
  const db = onBehalfOf(forStore(app.db, id), { id: tokenId, confirm });
  /** After so many further questions. */
  const end = (after = 0): void => void (endsAfter = asked + after);
  return { db, end };
}

describe("a client on behalf of a token that has ended", () => {
  test("sends no statement", async () => {
    const { db, end } = callerOf(await createTestStore(app));
    expect(await db.$queryRaw`SELECT 1 AS one`).toEqual([{ one: 1 }]);
    expect(await db.product.count({ where: { storeId: "none" } })).toBe(0);
    end();
    await expect(db.$queryRaw`SELECT 1 AS one`).rejects.toBe(gone);
    await expect(db.product.count({ where: { storeId: "none" } })).rejects.toBe(gone);
    const work = () => Promise.reject(new Error("It was begun."));
    await expect(inTransaction(db, { timeoutMs: 5_000 }, work)).rejects.toBe(gone);
  });

  test("commits no transaction", async () => {
    const store = await createTestStore(app);
    const { db, end } = callerOf(store);
    const begun = inTransaction(db, { timeoutMs: 5_000 }, async (transaction) => {
      await transaction.site.create({ data: { storeId: store.id, id: "site", type: "shop" } });
      end();
    });
    await expect(begun).rejects.toBe(gone);
    expect(await app.db.site.count({ where: { storeId: store.id } })).toBe(0);
  });
});

test("a token is looked up within a transaction without a further connection, for which it would wait", async () => {
  const { id, token } = await createTestStore(app);
  const database = connect({ ...givenDatabase().connection, max: 1 }, () => undefined);
  onTestFinished(() => database.close());
  const { client } = database;
  const identity = await inTransaction(client, { timeoutMs: 100_000 }, (transaction) =>
    createIdentify(client)(token, transaction),
  );
  expect(identity).toMatchObject({ storeId: id });
});

describe("a long import whose token ends", () => {
  /** Products whose reading is interrupted after the first chunk, and before the end. */
  function sourceOf(list: readonly object[], afterFirst: () => void, atEnd: () => void): ProductSource {
    const source = listSource(list, (index) => [index], "REJECT_ALL");
    return {
      ...source,
      async *read(options) {
        const reader = source.read(options);
        for (let chunks = 0; ; chunks += 1) {
          const step = await reader.next();
          if (step.done === true) {
            atEnd();
            return step.value;
          }
          if (chunks === 1) afterFirst();
          yield step.value;
        }
      },
    };
  }

  const options: readonly (readonly [string, ImportOptions])[] = [
    ["of all products", {}],
    ["of those that are valid", { errorPolicy: "REJECT_FAILED" }],
    ["that replaces the catalog", { mode: "REPLACE", maxDeletions: 1_000 }],
    ["of patches", { mode: "PATCH" }],
  ];

  test.each(options)("%s while it is read, or before it is stored, changes nothing", async (_, given) => {
    const store = await createTestStore(app);
    const list = products(longRows);
    await importProducts(app.db, store.id, list);
    const changed = list.map((each) => ({ ...each, title: "New" }));
    const before = await digestOf(app, store);
    for (const place of ["first", "end"] as const) {
      const { db, end } = callerOf(store);
      const endAt = (at: string) => () => at === place && end();
      const source = sourceOf(changed, endAt("first"), endAt("end"));
      await expect(importFrom(db, store.id, source, given)).rejects.toBe(gone);
      expect(await digestOf(app, store)).toBe(before);
    }
    const { db } = callerOf(store);
    const nothing = () => undefined;
    const done = await importFrom(db, store.id, sourceOf(changed, nothing, nothing), given);
    expect(done.imported).toBe(changed.length);
  });
});

test("of requests that come together, those of an ended public key are refused, and no others", async () => {
  const { store, lsId } = await storeWithShow(app, "LIVE");
  const record = createGroupCommit();
  const [ended, valid] = [callerOf(store, "ended"), callerOf(store, "valid")];
  ended.end();
  const send = (index: number) => {
    const { db } = index % 2 === 0 ? ended : valid;
    const { type, channel, viewerId, seconds } = view("");
    return record(db, store.id, lsId, [{ id: `e${index}`, type, channel, viewerId, seconds }] as never);
  };
  const answers = await Promise.allSettled(Array.from({ length: 10 }, (_, index) => send(index)));
  for (const [index, answer] of answers.entries()) {
    if (index % 2 === 0) expect(answer).toMatchObject({ reason: gone });
    else expect(answer).toMatchObject({ value: { accepted: 1, duplicates: 0 } });
  }
  expect(await storedEvents(app, store)).toBe(5);
});

test("of deliveries that wait for each other, those of a removed hook are refused, and no others", async () => {
  const clock = stopClock();
  const store = await createTestStore(app);
  const [removed, valid] = [await hookOf(app, store, "shopify"), await hookOf(app, store, "shopify")];
  for (const { deliver } of [removed, valid]) await deliver("orders/edited", {}); // they are known from now on
  const { requests } = sharesOf(app.db) ?? expect.fail("The database has no shares.");
  await requests.take(store.id, { amount: requests.ofStoreMax });
  const first = valid.deliver("orders/create", shopifyOrder("1"));
  await until(() => requests.waiting === 1, "the first delivery to wait");
  const others = [removed, valid].map(({ deliver }, n) => deliver("orders/create", shopifyOrder(`${n + 2}`)));
  await until(() => requests.waiting === 2, "that of the other hook to wait");
  await removeHook(app.db, store.id, removed.id);
  clock.pass(5_000);
  requests.release(store.id, requests.ofStoreMax);
  const answers = await Promise.all([first, ...others]);
  expect(answers.map(({ status }) => status)).toEqual([200, 401, 200]);
  const stored = await app.db.shopOrder.findMany({ where: { storeId: store.id }, orderBy: { id: "asc" } });
  expect(stored.map(({ id }) => id)).toEqual(["1", "3"]);
});

test("an erasure whose token ends changes no further show", async () => {
  const store = await createTestStore(app);
  for (const id of ["one", "two", "three"]) {
    await saved(store, { id });
    await recordEvents(app.db, store.id, id, asInputs([view("e", { viewerId: "v1" })]));
  }
  const { db, end } = callerOf(store);
  const before = idBytes("v1");
  const left = () => app.db.$queryRaw<[{ shows: number }]>`
    SELECT count(*)::int AS shows FROM "ShowEvent" WHERE "storeId" = ${store.id} AND "viewerId" = ${before}::bytea`;
  const shows: number[] = [];
  for (let questions = 0; shows.at(-1) !== 0; questions += 1) {
    end(questions);
    await expect(eraseViewer(db, store.id, "v1")).rejects.toBe(gone);
    shows.push((await left())[0].shows);
  }
  expect(shows).toEqual(shows.toSorted((a, b) => b - a));
  expect(new Set(shows)).toEqual(new Set([3, 2, 1, 0]));
});
