import { expect, test } from "vitest";
import type { Database, RootDatabase } from "../../src/database/client.js";
import { batchLookups } from "../../src/database/batchLookups.js";
import { createShares } from "../../src/database/shares/forStore.js";
import { stopTimers } from "../support/clock.js";

const [db, otherDb] = [{} as Database, {} as Database];

/** Until what is ready has been sent. */
const turn = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

function recorded() {
  const queries: { db: Database; storeId: string; keys: readonly string[] }[] = [];
  const look = batchLookups(async (database, storeId, keys) => {
    queries.push({ db: database, storeId, keys: [...keys] });
    if (keys.includes("bad")) throw new Error("bad key");
    return (key) => `${storeId}/${key}`;
  });
  return { queries, look };
}

test("lookups of one turn share a query for each store and database, and each gets its own", async () => {
  const { queries, look } = recorded();
  const found = await Promise.all([
    look(db, "a", "1"),
    look(db, "b", "1"),
    look(db, "a", "2"),
    look(otherDb, "a", "3"),
  ]);
  expect(found).toEqual(["a/1", "b/1", "a/2", "a/3"]);
  expect(queries).toEqual([
    { db, storeId: "a", keys: ["1", "2"] },
    { db, storeId: "b", keys: ["1"] },
    { db: otherDb, storeId: "a", keys: ["3"] },
  ]);
  await look(db, "a", "1");
  expect(queries, "nothing is remembered").toHaveLength(4);
});

test("a key that is looked up several times in a turn is queried once", async () => {
  const { queries, look } = recorded();
  const found = await Promise.all(["1", "2", "1", "1"].map((key) => look(db, "a", key)));
  expect(found).toEqual(["a/1", "a/2", "a/1", "a/1"]);
  expect(queries).toEqual([{ db, storeId: "a", keys: ["1", "2"] }]);
});

test("a failed query fails only for the lookups that share it", async () => {
  const { look } = recorded();
  const outcomes = await Promise.allSettled([look(db, "a", "bad"), look(db, "a", "1"), look(db, "b", "1")]);
  expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected", "fulfilled"]);
  expect(await look(db, "a", "1")).toBe("a/1");
});

test("one query asks for at most 500 keys", async () => {
  const { queries, look } = recorded();
  const keys = Array.from({ length: 1_201 }, (_, n) => String(n));
  expect(await Promise.all(keys.map((key) => look(db, "a", key)))).toEqual(keys.map((key) => `a/${key}`));
  expect(queries.map((query) => query.keys.length)).toEqual([500, 500, 201]);
});

test("lookups gather while the store's share of connections is in use, not those of other stores", async () => {
  const shared = {} as RootDatabase;
  createShares(shared, { max: 2, connectionTimeoutMillis: 5_000 }); // one for each store
  const queries: string[] = [];
  const answers: (() => void)[] = [];
  const look = batchLookups(async (_, storeId, keys) => {
    queries.push(`${storeId} ${keys.join()}`);
    await new Promise<void>((resolve) => answers.push(resolve));
    if (keys.includes("bad")) throw new Error("bad key");
    return (key) => key;
  });
  const first = look(shared, "a", "1");
  await turn();
  const gathered = [look(shared, "a", "2")];
  await turn();
  gathered.push(look(shared, "a", "3"), look(shared, "b", "1"));
  await turn();
  expect(queries).toEqual(["a 1", "b 1"]);
  const outcomes = Promise.allSettled([...gathered, look(shared, "a", "bad")]);
  for (const answer of answers.splice(0)) answer();
  expect(await first).toBe("1");
  await turn();
  expect(queries).toEqual(["a 1", "b 1", "a 2,3,bad"]);
  const later = look(shared, "a", "4");
  await turn();
  answers.shift()?.();
  expect((await outcomes).map(({ status }) => status)).toEqual(["rejected", "rejected", "fulfilled", "rejected"]);
  await turn();
  expect(queries.at(-1), "a failure keeps nobody waiting").toBe("a 4");
  answers.shift()?.();
  expect(await later).toBe("4");
});

test("keys gather no longer than 400 ms", async () => {
  const shared = {} as RootDatabase;
  createShares(shared, { max: 2, connectionTimeoutMillis: 5_000 });
  const answers: (() => void)[] = [];
  const look = batchLookups(async () => {
    await new Promise<void>((resolve) => answers.push(resolve));
    return (key) => key;
  });
  const timers = stopTimers();
  const first = look(shared, "a", "1");
  await turn();
  const second = look(shared, "a", "2");
  await turn();
  await timers.run(399);
  expect(answers).toHaveLength(1);
  await timers.run(1);
  expect(answers).toHaveLength(2);
  answers[1]?.();
  expect(await second).toBe("2");
  const third = look(shared, "a", "3"); // the first one still holds the only place
  await turn();
  expect(answers).toHaveLength(2);
  answers[0]?.();
  expect(await first).toBe("1");
  await turn();
  answers[2]?.();
  expect(await third).toBe("3");
});
