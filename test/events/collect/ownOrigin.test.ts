import { describe, expect, test } from "vitest";
import { issueKey } from "../../../src/stores/publicKey.js";
import { isFromOwnOrigin } from "../../../src/server/http/routes/collect.route.js";
import { openTestApp } from "../../support/app.js";
import { receive } from "../../support/http/bytes.js";
import { storedEvents, storeWithShow } from "../../support/events.js";

const app = await openTestApp({ analyticsRateLimit: 0, collectRateLimit: 0 });

async function shop() {
  const { store, lsId: show } = await storeWithShow(app);
  const { key } = await issueKey(app.db, store.id, { origins: ["https://shop.example"] });
  const body = JSON.stringify({ key, show, channel: "LIVE", viewer: "v", events: [{ id: "e", type: "VIEW" }] });
  return {
    stored: () => storedEvents(app, store),
    collect: async (headers: Record<string, string>) => {
      const all = { "content-type": "text/plain", "user-agent": "Mozilla/5.0 Firefox/140.0", ...headers };
      return (await receive(app.url, "/collect/v1", { method: "POST", headers: all, body })).status;
    },
  };
}

test("pages of the service itself may use any key, at any address of the service", async () => {
  for (const host of [new URL(app.url).host, "localhost:8080", "192.168.1.5:4000", "vitrine.example", "[::1]:4000"]) {
    const { collect, stored } = await shop();
    expect([host, await collect({ host, origin: `http://${host}` }), await stored()]).toEqual([host, 202, 1]);
  }
  const { collect, stored } = await shop();
  const behindProxy = { host: "127.0.0.1:4000", origin: "https://vitrine.example", "sec-fetch-site": "same-origin" };
  expect([await collect(behindProxy), await stored()]).toEqual([202, 1]);
});

test("a beacon whose origin the browser hides, because the page sends no referrer, is taken", async () => {
  const { collect, stored } = await shop();
  const hidden = { origin: "null", "sec-fetch-mode": "no-cors", "sec-fetch-site": "cross-site" };
  expect([await collect(hidden), await stored()]).toEqual([202, 1]);
});

describe("a page of another origin is refused, also", async () => {
  const { collect, stored } = await shop();
  const origin = "https://evil.example";
  test.each([
    ["one on the same site", { origin, host: "vitrine.evil.example", "sec-fetch-site": "same-site" }],
    ["where the browser says so, whatever Host is", { origin, host: "evil.example", "sec-fetch-site": "cross-site" }],
    ["with a host that a proxy, or anybody, names", { origin, "x-forwarded-host": "evil.example" }],
    ["with a host of RFC 7239", { origin, forwarded: "host=evil.example;proto=https" }],
    ["that hides its origin", { origin: "null", host: "null" }],
    ["that hides it, and could read the answer", { origin: "null", "sec-fetch-mode": "cors" }],
    ["that says it is a beacon, but not hidden", { origin, "sec-fetch-mode": "no-cors" }],
    ["on another port", { origin: "http://vitrine.example:8080", host: "vitrine.example:4000" }],
    ["with another scheme", { origin: "https://vitrine.example", host: "vitrine.example" }],
    ["of another host that ends alike", { origin: "http://evil-vitrine.example", host: "vitrine.example" }],
  ])("%s", async (_, headers) => {
    expect([await collect(headers), await stored()]).toEqual([403, 0]);
  });
});

test.each([
  [{ origin: "http://shop.example", host: "Shop.Example:80" }, true],
  [{ origin: "http://", host: "" }, false],
  [{ origin: "http://undefined" }, false],
  [{ host: "shop.example" }, false],
  [{ "sec-fetch-site": "same-origin, cross-site" }, false],
])("of the headers %j: %s", (headers, isOwn) => {
  expect(isFromOwnOrigin({ headers })).toBe(isOwn);
});
