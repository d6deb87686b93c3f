import { isDeepStrictEqual } from "node:util";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createLiveFeed } from "../src/analytics/feed.js";
import type { LiveStreamAnalytics } from "../src/analytics/kpis.read.js";
import { createTestStore, startApp, type TestApp, type TestStore } from "./support/app.js";
import { subscribe } from "./support/subscribe.js";

const redisUrl = process.env["TEST_REDIS_URL"];
const subscription =
  "subscription ($lsId: String!) { liveStreamAnalytics(lsId: $lsId) { id kpis { orders { total } sales { total } } } }";

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ analyticsRateLimit: 0 });
});
afterAll(() => app.close());

const watch = (at: TestApp, store: TestStore, lsId: string, signal: AbortSignal) =>
  subscribe(at, store, { query: subscription, variables: { lsId } }, signal);

async function startShow(store: TestStore): Promise<void> {
  const show = { id: "show", name: "Show", status: "LIVE", startedAt: "2026-01-01T00:00:00Z" };
  await store.graphql("mutation ($s: LiveStreamInput!) { saveLiveStream(liveStream: $s) { id } }", { s: show });
}

function order(store: TestStore, id: string, amount: number) {
  const events = [{ id, type: "ORDER", channel: "LIVE", amount }];
  return store.graphql(
    'mutation ($e: [ShopperEventInput!]!) { recordShopperEvents(lsId: "show", events: $e) { accepted } }',
    { e: events },
  );
}

const figures = (orders: number, sales: number) => ({
  data: { liveStreamAnalytics: { id: "show", kpis: { orders: { total: orders }, sales: { total: sales } } } },
});

describe("the subscription", () => {
  test("gives the figures at once, and again when an event is recorded", async () => {
    const store = await createTestStore(app);
    await startShow(store);
    const leaving = new AbortController();
    const values = watch(app, store, "show", leaving.signal);
    expect((await values.next()).value).toEqual(figures(0, 0));
    await order(store, "1", 12.5);
    expect((await values.next()).value).toEqual(figures(1, 12.5));
    leaving.abort();
    await expect(values.next()).rejects.toThrow("aborted");
    await expect.poll(() => app.feed.watchers, { timeout: 5_000 }).toBe(0); // nothing is left of the client
  });

  test("gives one error for an unknown show", async () => {
    const store = await createTestStore(app);
    const values = [];
    for await (const value of watch(app, store, "nothing", AbortSignal.timeout(20_000))) values.push(value);
    expect(values).toEqual([{ errors: [expect.objectContaining({ message: expect.any(String) })] }]);
    expect(values[0].errors[0].extensions.code).toBe("LIVE_STREAM_NOT_FOUND");
  });

  test.runIf(redisUrl !== undefined)("reaches the clients of another process over Redis", async () => {
    const shared = { analyticsRateLimit: 0, redisUrl };
    const [here, there] = await Promise.all([startApp(shared), startApp(shared)]);
    try {
      const store = await createTestStore(here);
      await startShow(store);
      const leaving = new AbortController();
      const values = watch(there, store, "show", leaving.signal);
      expect((await values.next()).value).toEqual(figures(0, 0));
      await order(store, "1", 1);
      let value = (await values.next()).value;
      // What Redis was told of the show's start may arrive only now.
      if (isDeepStrictEqual(value, figures(0, 0))) value = (await values.next()).value;
      expect(value).toEqual(figures(1, 1));
      leaving.abort();
      await expect(values.next()).rejects.toThrow("aborted");
    } finally {
      await Promise.all([here.close(), there.close()]);
    }
  });
});

describe("the feed", () => {
  const analytics = { id: "show" } as LiveStreamAnalytics;

  test("reads a show once for all its watchers, and at most once in each interval however much changes", async () => {
    const intervalMs = 200;
    const reads: number[] = [];
    const feed = createLiveFeed({
      intervalMs,
      read: () => {
        reads.push(performance.now());
        return Promise.resolve(analytics);
      },
    });
    const watchers = await Promise.all([1, 2, 3].map(() => feed.watch("store", "show")));
    for (const watcher of watchers) await watcher.next();
    reads.length = 0;
    const end = performance.now() + 5 * intervalMs;
    while (performance.now() < end) {
      feed.changed("store", "show");
      await sleep(5);
    }
    await feed.close();
    expect(reads.length).toBeGreaterThanOrEqual(2);
    expect(reads.length).toBeLessThanOrEqual(6);
  });

  test("leaves nothing behind when a watcher goes away while it waits", async () => {
    let reads = 0;
    const feed = createLiveFeed({
      intervalMs: 1,
      watchersMax: 1,
      read: () => {
        reads += 1;
        return Promise.resolve(analytics);
      },
    });
    const watcher = await feed.watch("store", "show");
    await expect(feed.watch("store", "show")).rejects.toMatchObject({ code: "UNAVAILABLE" });
    await watcher.next();
    const waiting = watcher.next();
    await watcher.return?.();
    expect(await waiting).toEqual({ value: undefined, done: true });
    feed.changed("store", "show");
    await sleep(20);
    expect(reads).toBe(1);
    await (await feed.watch("store", "show")).return?.(); // its place is free again
    await feed.close();
  });

  test("gives a slow watcher the latest figures only", async () => {
    let reads = 0;
    const read = () => Promise.resolve({ ...analytics, durationSeconds: (reads += 1) });
    const feed = createLiveFeed({ intervalMs: 1, read });
    const watcher = await feed.watch("store", "show");
    // oxlint-disable-next-line no-unmodified-loop-condition -- read counts
    while (reads < 4) {
      feed.changed("store", "show");
      await sleep(2);
    }
    await sleep(5);
    expect((await watcher.next()).value.durationSeconds).toBe(reads);
    await feed.close();
    expect(await watcher.next()).toEqual({ value: undefined, done: true });
  });
});
