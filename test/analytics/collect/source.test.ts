import { expect, test } from "vitest";
import { issueKey } from "../../../src/access/key.js";
import { openTestApp } from "../../support/app.js";
import { readAnswer } from "../../support/call.js";
import { order, storeWithShow } from "../../support/events.js";
import { person } from "../../support/browser/shop.js";
import { readAnalytics, recorded } from "../../support/shows.js";

const app = await openTestApp({ analyticsRateLimit: 0, collectRateLimit: 0 });
const origin = "https://shop.example";
const view = { type: "VIEW", seconds: 10 };

test("a page's viewer counts for a source: that of the first event, direct without one, and never at the expense of the event", async () => {
  const { store, lsId } = await storeWithShow(app);
  const { key } = await issueKey(app.db, store.id, { origins: [origin] });
  const collect = async (events: readonly object[]) => {
    const headers = { origin, "user-agent": person.userAgent };
    const sent = JSON.stringify({ key, show: lsId, channel: "LIVE", events });
    return readAnswer(await fetch(`${app.url}/collect/v1`, { method: "POST", headers, body: sent }));
  };
  const viewOf = (viewerId: string, source?: string) => ({
    ...view,
    id: `${viewerId} ${source?.slice(0, 9)}`,
    viewerId,
    source,
  });
  const events = [
    viewOf("v1", "www.Instagram.com"),
    viewOf("v1", "google.com"),
    viewOf("v2"),
    viewOf("v3", "x".repeat(256)),
    viewOf("v4", "shop.example"),
    viewOf("v5", "instagram.com"),
  ];
  expect(await collect(events)).toMatchObject({ body: { accepted: 6 } });
  await recorded(store, lsId, [
    order("o1", 20, { viewerId: "v5", source: "google.com" }),
    order("o2", 5, { source: "Google.com" }),
    order("o3", 1),
  ]);
  const { data } = await store.graphql(readAnalytics, { lsId });
  expect(data.liveStreamAnalytics.kpis.sources).toEqual([
    { source: "direct", viewers: 3, orders: 0, sales: 0 },
    { source: "instagram.com", viewers: 2, orders: 1, sales: 20 },
    { source: "google.com", viewers: 0, orders: 1, sales: 5 },
    { source: "unknown", viewers: 0, orders: 1, sales: 1 },
  ]);
  const wrong = { ...view, id: "wrong", viewerId: "v1", source: 7 };
  expect(await collect([wrong])).toMatchObject({ status: 400 });
});
