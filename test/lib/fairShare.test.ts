import { describe, expect, test } from "vitest";
import { FairShare } from "../../src/lib/fairShare.js";
import { pause } from "../../src/lib/timers.js";
import { stopTimers } from "../support/clock.js";

const message = "Too much at the same time.";

test("a store holds no more than its share, and another store finds a place at once", async () => {
  const share = new FairShare({ places: 4, ofStoreMax: 2, message });
  expect([share.tryTake("a"), share.tryTake("a"), share.tryTake("a")]).toEqual([true, true, false]);
  expect(share.tryTake("b")).toBe(true);
  share.release("a");
  expect(share.tryTake("a")).toBe(true);
});

test("stores take turns, whatever the number of their requests", async () => {
  const share = new FairShare({ places: 1, ofStoreMax: 1, message });
  expect(share.tryTake("busy")).toBe(true);
  const order: string[] = [];
  const asked = ["busy", "busy", "busy", "quiet", "busy", "other"].map(async (store, index) => {
    await share.take(store);
    order.push(`${store} ${index}`);
    await new Promise((resolve) => setImmediate(resolve));
    share.release(store);
  });
  share.release("busy");
  await Promise.all(asked);
  expect(order.slice(0, 3).toSorted()).toEqual(["busy 0", "other 5", "quiet 3"]);
  expect(order.slice(3)).toEqual(["busy 1", "busy 2", "busy 4"]);
});

test("stores with long and with short work get the same time", async () => {
  const timers = stopTimers();
  const share = new FairShare({ places: 1, ofStoreMax: 1, message });
  const order: string[] = [];
  const work = (store: string, ms: number) =>
    share.run(store, async () => {
      order.push(store);
      await pause(ms);
    });
  const slow = (async () => {
    for (let step = 0; step < 3; step += 1) await work("slow", 200); // never two at once: between them it is idle
  })();
  const quick = Array.from({ length: 20 }, () => work("quick", 1));
  await timers.run(5_000);
  await Promise.all([slow, ...quick]);
  expect(order.slice(0, 21)).toEqual(["slow", ...Array.from({ length: 20 }, () => "quick")]);
});

test("idle time earns a store no turns", async () => {
  const timers = stopTimers();
  const share = new FairShare({ places: 1, ofStoreMax: 1, message });
  const order: string[] = [];
  const work = (store: string) =>
    share.run(store, async () => {
      order.push(store);
      await pause(20);
    });
  const early = Array.from({ length: 10 }, () => work("early"));
  await timers.run(110);
  const before = order.length;
  const late = Array.from({ length: 10 }, () => work("late"));
  await timers.run(5_000);
  await Promise.all([...early, ...late]);
  const next = order.slice(before, before + 6);
  expect(next.filter((store) => store === "early").length).toBeGreaterThanOrEqual(2);
});

test("a caller is refused with UNAVAILABLE after 4.5 seconds by default, and leaves nothing behind", async () => {
  const timers = stopTimers();
  const share = new FairShare({ places: 1, ofStoreMax: 1, message });
  expect(share.tryTake("a")).toBe(true);
  const refused = share.take("b").catch((error: unknown) => error);
  await timers.run(4_499);
  expect(share.waiting).toBe(1);
  await timers.run(1);
  expect(await refused).toMatchObject({ code: "UNAVAILABLE", message, retryAfterSeconds: 1 });
  expect(share.waiting).toBe(0);
  share.release("a");
  expect(share.tryTake("b")).toBe(true);
});

test("a caller that disconnects no longer waits", async () => {
  const share = new FairShare({ places: 1, ofStoreMax: 1, message });
  share.tryTake("a");
  const caller = new AbortController();
  const waiting = share.take("b", { signal: caller.signal });
  caller.abort();
  await expect(waiting).rejects.toMatchObject({ code: "UNAVAILABLE" });
  share.release("a");
  expect(share.tryTake("c")).toBe(true);
});

test("once a caller gives up, those behind it get what is free", async () => {
  const share = new FairShare({ places: 4, ofStoreMax: 4, message });
  expect(share.tryTake("a", 2)).toBe(true);
  const caller = new AbortController();
  const large = share.take("b", { amount: 3, signal: caller.signal });
  const small = share.take("b", { amount: 2 });
  expect([share.held, share.waiting]).toEqual([2, 2]);
  caller.abort();
  await expect(large).rejects.toMatchObject({ code: "UNAVAILABLE" });
  expect([share.held, share.waiting]).toEqual([4, 0]);
  await small;
});

test("the waiting callers of a store are limited", async () => {
  const share = new FairShare({ places: 1, ofStoreMax: 1, waitingOfStoreMax: 1, message });
  share.tryTake("a");
  const first = share.take("a");
  await expect(share.take("a")).rejects.toMatchObject({ code: "UNAVAILABLE" });
  share.release("a");
  await first;
});

test("amounts larger than one are taken together or not at all", async () => {
  const share = new FairShare({ places: 10, ofStoreMax: 6, message });
  await share.take("a", { amount: 5 });
  expect(share.tryTake("a", 2)).toBe(false);
  await share.take("b", { amount: 5 });
  const waiting = share.take("c", { amount: 4 });
  share.release("a", 5);
  await waiting;
  expect(share.tryTake("d")).toBe(true);
  expect(share.tryTake("e")).toBe(false);
});

test("places are released when the work fails", async () => {
  const share = new FairShare({ places: 1, ofStoreMax: 1, message });
  await expect(share.run("a", () => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
  expect(await share.run("a", () => Promise.resolve("done"))).toBe("done");
});

test("closing refuses all who wait", async () => {
  const share = new FairShare({ places: 1, ofStoreMax: 1, message });
  share.tryTake("a");
  const waiting = [share.take("a"), share.take("b")];
  share.close();
  for (const one of waiting) await expect(one).rejects.toMatchObject({ code: "UNAVAILABLE" });
  await expect(share.take("c")).rejects.toMatchObject({ code: "UNAVAILABLE" });
  expect(share.waiting).toBe(0);
});

describe("stores of a group", () => {
  const groups = { max: 3, of: (storeId: string) => (storeId.startsWith("other") ? undefined : "node") };

  test("together hold no more than its share, and stores of no group get the rest", () => {
    const share = new FairShare({ places: 4, ofStoreMax: 2, groups, message });
    expect(["a", "a", "b", "b", "c"].map((store) => share.tryTake(store))).toEqual([true, true, true, false, false]);
    expect(share.tryTake("other")).toBe(true);
    share.release("a");
    expect(share.tryTake("c")).toBe(true);
  });

  test("wait while it is used up, and later callers of other stores go first", async () => {
    const share = new FairShare({ places: 4, ofStoreMax: 4, groups, message });
    for (let held = 0; held < 3; held += 1) share.tryTake("a");
    share.tryTake("other");
    const order: string[] = [];
    const take = async (store: string) => {
      await share.take(store);
      order.push(store);
    };
    const asked = [take("b"), take("other")];
    share.release("other");
    await asked[1];
    expect(order).toEqual(["other"]);
    share.release("a");
    await asked[0];
    expect(order).toEqual(["other", "b"]);
  });

  test("leave a place to others, however many places two groups want", () => {
    const nodes = { max: 7, of: (storeId: string) => storeId.slice(0, 1) };
    for (const order of ["ababababababababab", "aaaaaaaaaaabbbbbbbbb", "baaabbbaaabbbaaabb"]) {
      const share = new FairShare({ places: 10, ofStoreMax: 5, groups: nodes, message });
      const held = Array.from(order).filter((node, index) => share.tryTake(`${node}${index}`));
      expect(held.length).toBeGreaterThanOrEqual(8); // of 10
      for (let call = 0; call < 20; call += 1) {
        expect(share.tryTake("c1")).toBe(true);
        share.release("c1");
      }
    }
  });

  test("are counted in their current group, with what they hold", () => {
    let node = "first";
    const share = new FairShare({
      places: 6,
      ofStoreMax: 3,
      groups: { max: 3, of: (storeId) => (storeId === "moved" ? node : "second") },
      message,
    });
    expect([share.tryTake("moved"), share.tryTake("moved"), share.tryTake("a")]).toEqual([true, true, true]);
    node = "second";
    expect(share.tryTake("moved")).toBe(false);
    expect(share.tryTake("a")).toBe(false);
    share.release("moved");
    expect([share.tryTake("a"), share.tryTake("a")]).toEqual([true, false]);
  });
});

test("a place is wanted while somebody waits who would get it", async () => {
  const share = new FairShare({ places: 2, ofStoreMax: 1, message });
  expect([share.tryTake("a"), share.isWanted("a")]).toEqual([true, false]);
  const own = share.take("a");
  expect(share.tryTake("b")).toBe(true);
  expect([share.isWanted("a"), share.isWanted("b")], "b's is of no use to a").toEqual([true, false]);
  const other = share.take("c");
  expect(share.isWanted("b")).toBe(true);
  expect([share.held, share.waiting]).toEqual([2, 2]);
  share.release("b");
  await other;
  share.release("c");
  share.release("a");
  await own;
  expect(share.isWanted("a")).toBe(false);
  share.release("a");
});

test("the more places are held, the fewer a store may add, where each is a group of its own", () => {
  const share = new FairShare({ places: 8, ofStoreMax: 4, groups: { max: 4, of: (store) => store }, message });
  const taken = ["a", "b", "c", "d", "e"].map((store) => {
    let places = 0;
    while (share.tryTake(store)) places += 1;
    return places;
  });
  expect(taken).toEqual([4, 2, 1, 1, 0]);
});
