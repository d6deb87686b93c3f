import { describe, expect, onTestFinished, test } from "vitest";
import { createIdentify } from "../../../src/stores/token.js";
import { createGroupCommit } from "../../../src/events/collect/group.js";
import { importFrom, type ImportOptions } from "../../../src/catalog/import/import.js";
import type { ProductSource } from "../../../src/catalog/import/importTypes.js";
import { importProducts, listSource } from "../../../src/catalog/import/entryPoints/jsonProducts.js";
import { connect } from "../../../src/database/open.js";
import { onBehalfOf } from "../../../src/database/shares/caller.js";
import { forStore } from "../../../src/database/shares/forStore.js";
import { inTransaction } from "../../../src/database/transaction.js";
import { AppError } from "../../../src/errors.js";
import { createTestStore, openTestApp, type TestStore } from "../../support/app.js";
import { givenDatabase } from "../../support/database/database.js";
import { storedEvents, storeWithShow, view } from "../../support/events.js";
import { longRows, products } from "../../support/products.js";
import { digestOf } from "../../support/stored.js";

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
    const list = products(longRows);
    await importProducts(app.db, store.id, list);
    const changed = list.map((each) => ({ ...each, title: "New" }));
    const before = await digestOf(app, store);
    for (const place of ["first", "end"] as const) {
      const { db, end } = await callerOf(store);
      const endAt = (at: string) => () => at === place && end();
      const source = sourceOf(changed, endAt("first"), endAt("end"));
      await expect(importFrom(db, store.id, source, given)).rejects.toBe(gone);
      expect(await digestOf(app, store)).toBe(before);
    }
    const { db } = await callerOf(store);
    const nothing = () => undefined;
    const done = await importFrom(db, store.id, sourceOf(changed, nothing, nothing), given);
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
