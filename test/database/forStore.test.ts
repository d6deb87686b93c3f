import { randomUUID } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import { createStore } from "../../src/access/stores/store.js";
import type { RootDatabase } from "../../src/database/client.js";
import { forStore } from "../../src/database/shares/forStore.js";
import { asLongWork, asWideRead, sharesOf } from "../../src/database/shares/shares.js";
import { connect } from "../../src/database/open.js";
import { openConnections } from "../support/app.js";
import { ofTest } from "../support/citus/recording.js";
import { emptyDatabase } from "../support/database/ownDatabase.js";

/** Work that goes on until it is told to end, and what tells how much of it is under way. */
function heldWork() {
  let running = 0;
  const ends: (() => void)[] = [];
  return {
    running: () => running,
    end: () => ends.shift()?.(),
    work: async () => {
      running += 1;
      await new Promise<void>((resolve) => ends.push(resolve));
      running -= 1;
    },
  };
}

/** Transactions of a store that keep their connections until they are told to end. */
function holdTransactions(db: RootDatabase, storeId: string, count: number) {
  const held = heldWork();
  const all = Array.from({ length: count }, () =>
    forStore(db, storeId).$transaction(() => held.work(), { timeout: 60_000 }),
  );
  const end = async () => {
    for (let ended = 0; ended < count; ended += 1) {
      await expect.poll(held.running).toBeGreaterThan(0);
      held.end();
    }
    await Promise.all(all);
  };
  return { running: held.running, end };
}

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

test("no store holds more than half of the connections, and other stores are served while it waits", async () => {
  const { client, probe, connection } = openConnections();
  const share = Math.max(1, Math.floor((connection.max ?? 10) / 2));
  const transactions = holdTransactions(client, "greedy", 12);
  await expect.poll(transactions.running).toBe(share);
  expect(probe.waiting()).toBe(12 - share);
  if (connection.max !== 1) {
    expect(await forStore(client, "modest").$queryRaw`SELECT 1 AS one`).toEqual([{ one: 1 }]);
    expect(await forStore(client, "modest").store.count({ where: { id: "modest" } })).toBe(0);
  }
  await transactions.end();
  expect(probe.waiting()).toBe(0);
});

test("connections are shared fairly: one query does not wait behind all of another store's", async () => {
  const { client } = openConnections();
  const first = holdTransactions(client, "first", 6);
  await expect.poll(first.running).toBeGreaterThan(0);
  const order: string[] = [];
  const ask = async (storeId: string) => {
    await forStore(client, storeId).$queryRaw`SELECT 1`;
    order.push(storeId);
  };
  const asked = [...Array.from({ length: 100 }, () => ask("first")), ask("second")];
  await first.end();
  await Promise.all(asked);
  expect(order.indexOf("second")).toBeLessThan(50);
});

test("long work of all stores takes half of the connections, of one store half of these; wide reads a quarter", async () => {
  const { client, connection } = openConnections();
  const connections = connection.max ?? 10;
  for (const [begin, places, ofStore] of [
    [asLongWork, Math.floor(connections / 2), Math.ceil(Math.floor(connections / 2) / 2)],
    [asWideRead, Math.floor(connections / 4), Math.floor(Math.floor(connections / 4) / 2)],
  ] as const) {
    const held = heldWork();
    const works = Array.from({ length: 6 }, () => begin(forStore(client, "one"), "one", held.work));
    expect(held.running()).toBe(Math.max(1, ofStore));
    works.push(...Array.from({ length: 6 }, () => begin(forStore(client, "other"), "other", held.work)));
    expect(held.running()).toBe(Math.max(1, places));
    for (let ended = 0; ended < works.length; ended += 1) {
      held.end();
      await expect.poll(held.running).toBe(Math.min(Math.max(1, places), works.length - ended - 1));
    }
    await Promise.all(works);
  }
});

test("a caller that has disconnected no longer waits for its turn", async () => {
  const { client } = openConnections();
  const held = heldWork();
  const caller = new AbortController();
  const first = Array.from({ length: 5 }, () => asWideRead(client, "one", held.work));
  const waiting = asWideRead(client, "one", held.work, caller.signal);
  caller.abort();
  await expect(waiting).rejects.toMatchObject({ code: "UNAVAILABLE" });
  for (const _ of first) {
    await expect.poll(held.running).toBe(1);
    held.end();
  }
  await Promise.all(first);
});

test("waiting too long for a connection ends with UNAVAILABLE and Retry-After", async () => {
  const connection = await emptyDatabase("waiting"); // the engine of the run would be held for as long for all tests
  const database = connect({ ...connection, connectionTimeoutMillis: 4_000 }, () => undefined);
  onTestFinished(() => database.close());
  const { client } = database;
  const share = Math.max(1, Math.floor((connection.max ?? 10) / 2));
  const transactions = holdTransactions(client, "busy", share);
  await expect.poll(transactions.running).toBe(share);
  const begun = performance.now();
  await expect(forStore(client, "busy").$queryRaw`SELECT 1`).rejects.toMatchObject({
    code: "UNAVAILABLE",
    retryAfterSeconds: 1,
  });
  expect(performance.now() - begun).toBeGreaterThan(3_490); // half a second before; timers may come a moment early
  expect(sharesOf(client)?.requests.waiting).toBe(0);
  await transactions.end();
});
