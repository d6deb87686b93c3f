import type { IncomingMessage } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { issueKey } from "../../../src/stores/publicKey.js";
import { clientAddress } from "../../../src/server/http/routes/collect.route.js";
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

test("an address that a proxy passes on and that is not trusted is one warning", async () => {
  const app = await open(0);
  const { key, show } = await makeKey(app);
  const warnings = () => app.logged.filter((line) => line.includes("TRUST_PROXY"));
  expect([await statuses(app, { key, show }, [""]), warnings()]).toEqual([[202], []]);
  expect(await statuses(app, { key, show }, ["1.1.1.1", "2.2.2.2", "3.3.3.3"])).toEqual([202, 202, 429]);
  expect(warnings()).toEqual([expect.stringContaining('"level":40')]);
  expect(warnings().join("")).not.toContain("1.1.1.1");
});

function addressOf(proxies: number, remoteAddress: string, headers: Readonly<Record<string, string>>) {
  return clientAddress({ httpVersion: "1.1", headers, socket: { remoteAddress } } as IncomingMessage, proxies);
}

test.each([
  [0, "127.0.0.1", "1.1.1.1", "127.0.0.1"],
  [1, "127.0.0.1", "", "127.0.0.1"],
  [1, "127.0.0.1", "9.9.9.9, 1.1.1.1", "1.1.1.1"],
  [2, "127.0.0.1", "9.9.9.9, 1.1.1.1, 2.2.2.2", "1.1.1.1"],
  [3, "127.0.0.1", "1.1.1.1", "1.1.1.1"],
  [1, "::ffff:127.0.0.1", "::ffff:1.1.1.1", "1.1.1.1"],
  [1, "::1", "2001:db8:1:2:3:4:5:6", "8193:3512:1:2"],
  [1, "127.0.0.1", "9.9.9.9, unknown", "unknown"],
  [1, "127.0.0.1", "1.1.1.1:5678", "1.1.1.1"],
  [1, "127.0.0.1", "9.9.9.9:1, 1.1.1.1:65535", "1.1.1.1"],
  [2, "127.0.0.1", "1.1.1.1:5678, [2001:db8::1]:443", "1.1.1.1"],
  [1, "127.0.0.1", "[2001:db8:1:2::1]:123", "8193:3512:1:2"],
  [1, "127.0.0.1", "[2001:db8:1:2::2]", "8193:3512:1:2"],
  [1, "127.0.0.1", "[::ffff:1.1.1.1]:123", "1.1.1.1"],
  [1, "127.0.0.1", "[::1]:123", "0:0:0:0"],
])("with %i proxies, of a connection from %s for %s, the client is %s", (proxies, remoteAddress, header, client) => {
  expect(addressOf(proxies, remoteAddress, { "x-forwarded-for": header }).address).toBe(client);
});

test.each<[proxies: number, headers: Record<string, string>, isProxy: boolean]>([
  [0, {}, false],
  [0, { "x-forwarded-for": "1.1.1.1" }, true],
  [0, { "cf-connecting-ip": "1.1.1.1" }, true],
  [0, { forwarded: "for=1.1.1.1" }, true],
  [1, {}, false],
  [1, { "x-forwarded-for": "1.1.1.1" }, false],
  [1, { "x-forwarded-proto": "https" }, true],
  [1, { "x-forwarded-for": "10.0.0.1" }, false], // a client in the same network
  [1, { "x-forwarded-for": "9.9.9.9, 1.1.1.1" }, false], // which the client has made up
  [1, { "x-forwarded-for": "1.1.1.1, 10.0.0.1" }, true],
  [1, { "x-forwarded-for": "1.1.1.1:1, [fd00::1]:443" }, true],
  [2, { "x-forwarded-for": "1.1.1.1, 10.0.0.1" }, false],
])("with %i proxies and the headers %j, whether the address is a proxy's: %s", (proxies, headers, isProxy) => {
  expect(addressOf(proxies, "10.0.0.2", headers).isProxy).toBe(isProxy);
});
