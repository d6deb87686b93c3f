import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { createStore } from "../../src/stores/store.js";
import type { RootDatabase } from "../../src/database/client.js";
import { asLongWork, asWideRead, createShares, forStore } from "../../src/database/shares/forStore.js";
import { openConnections } from "../support/app.js";
import { ofTest } from "../support/citus/recording.js";
import { stopTimers } from "../support/clock.js";
import { heldWork } from "../support/database/heldWork.js";

test("a store's client has all operations of the database", async () => {
  const { client } = openConnections();
  const id = `store-${randomUUID()}`;
  const db = forStore(client, id);
  expect(forStore(client, id)).toBe(db);
  await createStore(db, id, "A store");
  expect(await db.store.findUnique({ where: { id } })).toMatchObject({ name: "A store" });
  expect(await db.$queryRaw`SELECT name FROM "Store" WHERE id = ${id}`).toEqual([{ name: "A store" }]);
  const changed = db.$transaction(async (transaction) => {
    await transaction.store.update({ where: { id }, data: { name: "Another name" } });
    throw new Error("not after all");
  });
  await expect(changed).rejects.toThrow("not after all");
  expect((await db.store.findUniqueOrThrow({ where: { id } })).name).toBe("A store");
  await expect(db.$queryRawUnsafe(ofTest("SELECT nothing"))).rejects.toThrow("nothing");
});

/** The shares of a pool, without the pool. */
function sharesOfPool(max: number) {
  const db = {} as RootDatabase;
  return { db, shares: createShares(db, { max, connectionTimeoutMillis: 4_000 }) };
}

test.each([
  [10, "long work", asLongWork, 5, 3],
  [10, "wide reads", asWideRead, 2, 1],
  [5, "long work", asLongWork, 2, 1],
  [5, "wide reads", asWideRead, 1, 1],
  [1, "long work", asLongWork, 1, 1],
])("of %i connections, %s of all stores takes its part, of one store half of that", async (max, _, begin, all, one) => {
  const { db } = sharesOfPool(max);
  const held = heldWork();
  const works = Array.from({ length: 6 }, () => begin(db, "one", held.work));
  expect(held.running()).toBe(one);
  works.push(...Array.from({ length: 6 }, () => begin(db, "other", held.work)));
  expect(held.running()).toBe(all);
  for (let left = works.length - 1; left >= 0; left -= 1) {
    held.end();
    await expect.poll(held.running).toBe(Math.min(all, left));
  }
  await Promise.all(works);
});

test("a caller that has disconnected no longer waits for its turn", async () => {
  const { db } = sharesOfPool(1);
  const held = heldWork();
  const caller = new AbortController();
  const first = asWideRead(db, "one", held.work);
  const waiting = asWideRead(db, "one", held.work, caller.signal);
  caller.abort();
  await expect(waiting).rejects.toMatchObject({ code: "UNAVAILABLE" });
  held.end();
  await first;
});

test.each([
  ["requests", 3_500, 1], // half a second before the connection would time out
  ["wideReads", 3_500, 1],
  ["longWork", 10_000, 5],
] as const)("%s are refused after a wait of %i ms, with Retry-After: %i", async (kind, waitMs, retryAfterSeconds) => {
  const { shares } = sharesOfPool(2);
  const share = shares[kind];
  while (share.tryTake("a"));
  const timers = stopTimers();
  const refused = share.take("a").catch((error: unknown) => error);
  await timers.run(waitMs - 1);
  expect(share.waiting).toBe(1);
  await timers.run(1);
  expect(await refused).toMatchObject({ code: "UNAVAILABLE", retryAfterSeconds });
  expect(share.waiting).toBe(0);
});
