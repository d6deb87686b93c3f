import { expect, test } from "vitest";
import { readWatchingNow } from "../../../src/figures/show/timeline.js";
import { createTestStore, openTestApp } from "../../support/app.js";
import { ago, fromNow } from "../../support/clock.js";
import { view } from "../../support/events.js";
import { recorded, saved } from "../../support/shows.js";

const app = await openTestApp({ analyticsRateLimit: 0 });
const minuteMs = 60_000;

test("watching now are the viewers of the last full minute, or of the running one if they are more", async () => {
  const store = await createTestStore(app);
  const now = fromNow(0).getTime();
  const { id } = await saved(store, { status: "LIVE", startedAt: ago(600_000).toISOString() });
  const thisMinute = Math.floor(now / minuteMs) * minuteMs;
  const at = (minute: number, ...viewerIds: readonly string[]) =>
    viewerIds.map((viewerId) =>
      view(`${minute} ${viewerId}`, { viewerId, occurredAt: new Date(thisMinute + minute * minuteMs).toISOString() }),
    );
  const watching = (minute = 0) => readWatchingNow(app.db, store.id, id, thisMinute + minute * minuteMs + 10_000);
  expect(await watching()).toBe(0);
  await recorded(store, id, [...at(-2, "a", "b", "c", "d"), ...at(-1, "a", "b", "c"), ...at(0, "a")]);
  expect([await watching(), await watching(-1), await watching(1), await watching(2)]).toEqual([3, 4, 1, 0]);
  await recorded(store, id, at(0, "b", "c", "d"));
  expect(await watching()).toBe(4);
});

test("it is of a running show alone", async () => {
  const store = await createTestStore(app);
  const { id } = await saved(store, { status: "LIVE", startedAt: new Date().toISOString() });
  await recorded(store, id, [view("now")]);
  const read = async () => (await store.graphql(`{ liveStreamAnalytics(lsId: "${id}") { watchingNow } }`)).data;
  expect(await read()).toEqual({ liveStreamAnalytics: { watchingNow: 1 } });
  await saved(store, {
    id,
    status: "ENDED",
    startedAt: ago(1_000).toISOString(),
    durationSeconds: 1,
  });
  expect(await read()).toEqual({ liveStreamAnalytics: { watchingNow: null } });
});
