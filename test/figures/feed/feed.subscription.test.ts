import { describe, expect, test } from "vitest";
import {
  createTestStore,
  openTestApp,
  startApp,
  type TestApp,
  testDatabase,
  type TestStore,
} from "../../support/app.js";
import { ofTest } from "../../support/citus/recording.js";
import { subscribe } from "../../support/http/subscribe.js";

const subscription =
  "subscription ($lsId: String!) { liveStreamAnalytics(lsId: $lsId) { id kpis { orders { total } sales { total } } } }";

const app = await openTestApp({ analyticsRateLimit: 0 });

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
  test("sends the figures at once, and after an event is recorded", async () => {
    const store = await createTestStore(app);
    await startShow(store);
    const leaving = new AbortController();
    const values = watch(app, store, "show", leaving.signal);
    expect((await values.next()).value).toEqual(figures(0, 0));
    await order(store, "1", 12.5);
    expect((await values.next()).value).toEqual(figures(1, 12.5));
    leaving.abort();
    await expect(values.next()).rejects.toThrow("aborted");
    await expect.poll(() => app.feed.watchers).toBe(0); // nothing is left of the client
  });

  test("of a client that leaves during the first reading is released", async () => {
    const store = await createTestStore(app);
    await startShow(store);
    const leaving = new AbortController();
    await app.db.$transaction(async (transaction) => {
      await transaction.$executeRawUnsafe(ofTest('LOCK TABLE "LiveStreamTotal" IN ACCESS EXCLUSIVE MODE')); // readings wait
      const first = watch(app, store, "show", leaving.signal).next();
      first.catch(() => undefined); // awaited below
      await expect.poll(() => app.feed.watchers).toBe(1);
      leaving.abort();
      await expect(first).rejects.toThrow("aborted");
      await expect.poll(() => app.feed.watchers).toBe(0);
    });
    await app.db.$queryRawUnsafe(ofTest('SELECT FROM "LiveStreamTotal" LIMIT 0')); // by now, the reading may have gone on
    expect(app.feed.watchers).toBe(0);
  });

  test("runs each query once for all subscribers of a show with the same arguments", async () => {
    const database = testDatabase();
    const watched = await startApp({ analyticsRateLimit: 0 }, database);
    const store = await createTestStore(watched);
    await startShow(store);
    const query = `subscription ($bucketSeconds: Int!) { liveStreamAnalytics(lsId: "show") {
      kpis { orders { total } } peakConcurrentViewers
      timeline(bucketSeconds: $bucketSeconds) { orders } again: timeline(bucketSeconds: 60) { orders }
      topProducts { carts product { id } } } }`;
    const leaving = new AbortController();
    const watchers = [60, 60, 60, 120].map((bucketSeconds) =>
      subscribe(watched, store, { query, variables: { bucketSeconds } }, leaving.signal),
    );
    for (const values of watchers) await values.next();
    const reads: string[] = [];
    database.probe.aroundQuery = (sql, send) => {
      // Folding, and names that the order brings, are no reads of subscribers.
      for (const [, table] of /^\s*(?:WITH show|INSERT|SELECT kind)/u.test(sql)
        ? []
        : sql.matchAll(/FROM "(LiveStream\w+)"\s+WHERE/gu)) {
        reads.push(table ?? "");
      }
      return send();
    };
    await order(store, "1", 1);
    const timeline = [{ orders: 1 }];
    const value = {
      kpis: { orders: { total: 1 } },
      peakConcurrentViewers: 0,
      timeline,
      again: timeline,
      topProducts: [],
    };
    for (const values of watchers) {
      expect((await values.next()).value).toEqual({ data: { liveStreamAnalytics: value } });
    }
    const minutes = ["the peak", "60 seconds", "120 seconds"].map(() => "LiveStreamMinute");
    const others = ["LiveStreamProduct", "LiveStreamSpan", "LiveStreamTotal"]; // the span is the peak's
    expect(reads.toSorted()).toEqual(["LiveStreamGroup", "LiveStreamGroup", ...minutes, ...others]);
    leaving.abort();
    await watched.close();
  });
});
