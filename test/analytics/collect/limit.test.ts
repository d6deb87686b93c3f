import type { IncomingMessage } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { issueKey } from "../../../src/access/key.js";
import { clientAddress } from "../../../src/http/clientAddress.js";
import { startApp, type TestApp } from "../../support/app.js";
import { storeWithShow } from "../../support/events.js";

async function open(trustedProxies: number): Promise<TestApp> {
  const app = await startApp({ collectRateLimit: 3, analyticsRateLimit: 1, trustedProxies });
  onTestFinished(() => app.close());
  return app;
}

async function makeKey(app: TestApp) {
  const { store, lsId: show } = await storeWithShow(app);
  return { store, show, key: (await issueKey(app.db, store.id, { origins: ["https://shop.example"] })).key };
}

async function statuses(app: TestApp, body: object, forwarded: readonly string[]) {
  const all = [];
  for (const address of forwarded) {
    const headers = { "content-type": "text/plain", ...(address !== "" && { "x-forwarded-for": address }) };
    const response = await fetch(`${app.url}/collect/v1`, {
      method: "POST",
      headers,
      body: JSON.stringify({ ...body, events: [] }),
    });
    all.push(response.status);
    if (response.status === 429) {
      expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
      expect(await response.json()).toMatchObject({ code: "RATE_LIMITED" });
    }
  }
  return all;
}

test("requests are limited for each key, and X-Forwarded-For of nobody's proxy does not help", async () => {
  const app = await open(0);
  const [one, other] = [await makeKey(app), await makeKey(app)];
  const { key, show } = one;
  expect(await statuses(app, { key, show }, ["1.1.1.1", "2.2.2.2", "3.3.3.3", "4.4.4.4"])).toEqual([
    202, 202, 202, 429,
  ]);
  expect(await statuses(app, { key: other.key, show: other.show }, [""])).toEqual([202]);
  // Another policy: reads of the store are counted on their own.
  expect((await one.store.get(`/external/analytics/v1/live-streams/${show}`)).status).toBe(200);
  expect(app.accessLog.join("")).not.toContain("1.1.1.1");
});

test("behind a proxy of ours, each client address has its own count, which it cannot forge", async () => {
  const app = await open(1);
  const { key, show } = await makeKey(app);
  const forged = ["9.9.9.1, 1.1.1.1", "9.9.9.2, 1.1.1.1", "1.1.1.1", "9.9.9.3, 1.1.1.1"];
  expect(await statuses(app, { key, show }, forged)).toEqual([202, 202, 202, 429]);
  expect(await statuses(app, { key, show }, ["1.1.1.2"])).toEqual([202]);
});

test.each([
  [0, "127.0.0.1", "1.1.1.1", "127.0.0.1"],
  [1, "127.0.0.1", undefined, "127.0.0.1"],
  [1, "127.0.0.1", "9.9.9.9, 1.1.1.1", "1.1.1.1"],
  [2, "127.0.0.1", "9.9.9.9, 1.1.1.1, 2.2.2.2", "1.1.1.1"],
  [1, "::ffff:127.0.0.1", "::ffff:1.1.1.1", "1.1.1.1"],
  [1, "::1", "2001:db8:1:2:3:4:5:6", "8193:3512:1:2"],
  [1, "127.0.0.1", "9.9.9.9, unknown", "unknown"],
] as const)(
  "with %i proxies, of a connection from %s for %s, the client is %s",
  (proxies, remoteAddress, header, client) => {
    const headers = header === undefined ? {} : { "x-forwarded-for": header };
    const request = { headers, socket: { remoteAddress }, connection: { remoteAddress } };
    expect(clientAddress(request as unknown as IncomingMessage, proxies)).toBe(client);
  },
);
