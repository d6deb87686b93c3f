import { describe, expect, onTestFinished, test } from "vitest";
import { createIdentify } from "../../../src/access/identity.js";
import { issueToken } from "../../../src/access/token.js";
import { revokeToken } from "../../../src/access/token.replace.js";
import { createGroupCommit } from "../../../src/analytics/collect/group.js";
import { importFrom, type ImportOptions } from "../../../src/catalog/import/import.js";
import type { ProductSource } from "../../../src/catalog/import/job.js";
import { importProducts, listSource } from "../../../src/catalog/import/ways/list.js";
import type { Database } from "../../../src/database/client.js";
import { connect } from "../../../src/database/open.js";
import { onBehalfOf } from "../../../src/database/shares/caller.js";
import { forStore } from "../../../src/database/shares/forStore.js";
import { inTransaction } from "../../../src/database/transaction.js";
import { AppError } from "../../../src/errors.js";
import { createTestStore, openTestApp, storeAt, type TestStore } from "../../support/app.js";
import { within } from "../../support/busy.js";
import { givenDatabase } from "../../support/database/database.js";
import { storedEvents, storeWithShow, view } from "../../support/events.js";
import { until } from "../../support/until.js";
import { longRows, paths, product, products, storedKeys } from "../../support/products.js";
import { saved } from "../../support/shows.js";
import { everythingOf } from "../../support/stored.js";

const app = await openTestApp();

const gone = new AppError("UNAUTHENTICATED", "The access token is not valid.");

/** A client on behalf of a token that is ended by the test. */
async function callerOf({ id }: Pick<TestStore, "id">, tokenId = "token") {
  const { createdAt } = await app.db.store.findFirstOrThrow({ where: { id } });
  let asked = 0;
  let endsAfter = Infinity;
  const confirm = async (): Promise<void> => {
    asked += 1;
    if (asked > endsAfter) throw gone;
  };
  const db = onBehalfOf(forStore(app.db, id), { id: tokenId, storeCreatedAt: createdAt, confirm });
  /** After so many further questions. */
  const end = (after = 0): void => void (endsAfter = asked + after);
  return { db, end };
}

describe("a client on behalf of a token that has ended", () => {
  test("sends no statement", async () => {
    const { db, end } = await callerOf(await createTestStore(app));
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
    const { db, end } = await callerOf(store);
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
    const list = products(3 * longRows);
    await importProducts(app.db, store.id, list);
    const changed = list.map((each) => ({ ...each, title: "New" }));
    const before = await everythingOf(app, store);
    for (const place of ["first", "end"] as const) {
      const { db, end } = await callerOf(store);
      const endAt = (at: string) => () => at === place && end();
      const source = sourceOf(changed, endAt("first"), endAt("end"));
      await expect(importFrom(db, store.id, source, given)).rejects.toBe(gone);
      expect(await everythingOf(app, store)).toEqual(before);
    }
    const { db } = await callerOf(store);
    const done = await importFrom(
      db,
      store.id,
      sourceOf(
        changed,
        () => undefined,
        () => undefined,
      ),
      given,
    );
    expect(done.imported).toBe(changed.length);
  });
});

test("of requests that are recorded together, those of an ended public key are refused, and no others", async () => {
  const { store, lsId } = await storeWithShow(app, "LIVE");
  const record = createGroupCommit();
  const [ended, valid] = [await callerOf(store, "ended"), await callerOf(store, "valid")];
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

describe.runIf(app.engine === "postgres")("a request whose token is revoked while it waits writes nothing:", () => {
  const show = "show";
  const csv = `id,sku,title,available,featured_image,url\n${products(longRows)
    .map(({ id, sku, title, featured_image: image, url }) => `${id},${sku},${title},true,${image},${url}\n`)
    .join("")}`;
  const file = (store: TestStore) =>
    store
      .fetch(paths.csv, { method: "POST", headers: { "content-type": "text/csv" }, body: csv })
      .then(async (answer) => ({ status: answer.status, body: await answer.json() }));

  test.concurrent.each<[string, (id: string) => string, (store: TestStore) => Promise<unknown>]>([
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
  ])("%s", async (_, lockOf, send) => {
    const owner = await createTestStore(app);
    await saved(owner, { id: show, status: "LIVE" });
    const { id: tokenId, token } = await issueToken(app.db, owner.id);
    const store = storeAt(app.url, { id: owner.id, token });
    let answer: Promise<unknown> | undefined;
    const hold = async (transaction: Database): Promise<void> => {
      await transaction.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${lockOf(owner.id)}, 0))::text`;
      answer = send(store);
      await revokeToken(app.db, owner.id, tokenId);
      await until(async () => (await store.get(paths.of("none"))).status === 401, "the token to end", within(5_000));
    };
    await inTransaction(app.db, { timeoutMs: 60_000 }, hold);
    expect(await answer).toMatchObject({ status: 401, body: { code: "UNAUTHENTICATED" } });
    expect(await storedKeys(app, owner)).toEqual({});
    expect(await storedEvents(app, owner)).toBe(0);
  });
});
