import { expect, test } from "vitest";
import { issueKey } from "../../../src/stores/publicKey.js";
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

test("hosts of the key's origins, and hosts below them, are no sources, whatever their port, their case and www.", async () => {
  const { store, lsId } = await storeWithShow(app);
  const origins = [
    "https://www.shop.example",
    "http://127.0.0.1:8080",
    "https://*.boutique.example",
    "app://localhost",
  ];
  const { key } = await issueKey(app.db, store.id, { origins, isSandboxed: true });
  const own = [
    "Shop.Example",
    "www.shop.example:8443",
    "checkout.shop.example",
    "127.0.0.1:9090",
    "127.0.0.1",
    "shop.example.",
  ];
  const alsoOwn = ["boutique.example", "WWW.boutique.example", "a.b.boutique.example", "localhost:3000"];
  const others = ["badshop.example", "shop.example.evil.example", "example", "null", "Newsletter: shop.example"];
  const sources = [...own, ...alsoOwn, ...others];
  const events = sources.map((source, index) => ({ ...view, id: `${index}`, viewerId: `v${index}`, source }));
  const sent = JSON.stringify({ key, show: lsId, channel: "LIVE", events });
  await fetch(`${app.url}/collect/v1`, { method: "POST", body: sent });
  const { data } = await store.graphql(readAnalytics, { lsId });
  const counted = data.liveStreamAnalytics.kpis.sources as { source: string; viewers: number }[];
  expect(counted.map(({ source, viewers }) => [source, viewers])).toEqual(
    expect.arrayContaining([["direct", own.length + alsoOwn.length], ...others.map((name) => [name.toLowerCase(), 1])]),
  );
});
