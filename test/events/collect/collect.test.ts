import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { issueKey, revokeKey } from "../../../src/stores/publicKey.js";
import { openTestApp, storeAt, type TestStore } from "../../support/app.js";
import { readAnswer } from "../../support/call.js";
import { ago, fromNow, stopClock } from "../../support/clock.js";
import { storedEvents, storeWithShow } from "../../support/events.js";
import { readAnalytics, saved } from "../../support/shows.js";

const app = await openTestApp({ analyticsRateLimit: 0, collectRateLimit: 0, corsOrigins: ["https://admin.example"] });

const origin = "https://shop.example";
const browser =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1";
const crawler = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)";

async function shop(origins: readonly string[] = [origin]) {
  const { store, lsId } = await storeWithShow(app);
  const { id, key } = await issueKey(app.db, store.id, { origins });
  return { store, lsId, id, key };
}

/** Sends what a page would; `headers` replace those of a browser. */
async function collect(body: unknown, headers: Record<string, string | undefined> = {}, method = "POST") {
  const all = { "content-type": "text/plain;charset=UTF-8", origin, "user-agent": browser, ...headers };
  const sent = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as Record<
    string,
    string
  >;
  const text = typeof body === "string" || body instanceof Buffer ? (body as BodyInit) : JSON.stringify(body);
  const response = await fetch(`${app.url}/collect/v1`, {
    method,
    headers: sent,
    ...(method === "POST" && { body: text }),
  });
  return { headers: response.headers, ...(await readAnswer(response)) };
}

const view = { id: "e1", type: "VIEW", seconds: 10, productId: null };
const cart = { id: "e2", type: "ADD_TO_CART", productId: "shirt" };

function sentBy({ key, lsId }: { readonly key: string; readonly lsId: string }, fields: object = {}) {
  return { key, show: lsId, channel: "LIVE", viewer: "v1", events: [view, cart], ...fields };
}

const kpis = async (store: TestStore, lsId: string) =>
  (await store.graphql(readAnalytics, { lsId })).data.liveStreamAnalytics.kpis;

test("a parameter in the URL, which would have no effect, is refused, and nothing is recorded", async () => {
  const made = await shop();
  const sent = {
    method: "POST",
    headers: { "content-type": "text/plain", origin },
    body: JSON.stringify(sentBy(made)),
  };
  const answer = await readAnswer(await fetch(`${app.url}/collect/v1?dryRun=true`, sent));
  expect(answer).toMatchObject({ status: 400, body: { code: "VALIDATION_FAILED", errors: [{ path: ["dryRun"] }] } });
  expect((await kpis(made.store, made.lsId)).viewers.total).toBe(0);
});

describe("what a page sends", () => {
  test("counts for its show, once, with the device of its User-Agent", async () => {
    const made = await shop();
    expect(await collect(sentBy(made))).toMatchObject({ status: 202, body: { accepted: 2, duplicates: 0 } });
    expect(await collect(sentBy(made), { "content-type": "application/json" })).toMatchObject({
      status: 202,
      body: { accepted: 0, duplicates: 2 },
    });
    expect(await kpis(made.store, made.lsId)).toMatchObject({
      viewers: { live: 1 },
      addToCart: { live: 100 },
      avgViewTime: { live: 10 },
      devices: [{ device: "mobile", value: 100 }],
    });
  });

  test("may say channel, viewer and device for each event, and come compressed", async () => {
    const made = await shop();
    const events = [
      { ...view, viewerId: "v2", channel: "REPLAY", device: "Fridge" },
      { ...view, id: "e3", occurredAt: new Date().toISOString() },
    ];
    const body = gzipSync(JSON.stringify(sentBy(made, { events })));
    expect(await collect(body, { "content-encoding": "gzip" })).toMatchObject({ body: { accepted: 2 } });
    expect(await kpis(made.store, made.lsId)).toMatchObject({
      viewers: { live: 1, replay: 1 },
      devices: [
        { device: "fridge", value: 50 },
        { device: "mobile", value: 50 },
      ],
    });
    expect(await collect(sentBy(made, { events: [] }))).toMatchObject({ status: 202, body: { accepted: 0 } });
  });

  test("of Facebook's app is no bot's, also where its agent is what stands in brackets alone", async () => {
    const made = await shop();
    const sent = collect(sentBy(made), { "user-agent": "[FBAN/FBIOS;FBAV/468.0.0.34.72;FBMD/iPhone;FBID/phone]" });
    expect(await sent).toMatchObject({ body: { accepted: 2 } });
    expect(await kpis(made.store, made.lsId)).toMatchObject({ devices: [{ device: "mobile", value: 100 }] });
  });

  test("by a bot is answered, counted and not stored; a server without an Origin is none", async () => {
    const made = await shop();
    const counted = async () =>
      /^vitrine_collect_bots_total (\d+)$/mu.exec(await (await fetch(`${app.url}/metrics`)).text())?.[1];
    const before = Number(await counted());
    expect(await collect(sentBy(made), { "user-agent": crawler })).toMatchObject({
      status: 202,
      body: { accepted: 0, duplicates: 0 },
    });
    expect(Number(await counted())).toBe(before + 1);
    expect(await storedEvents(app, made.store)).toBe(0);
    expect(await collect(sentBy(made), { "user-agent": "curl/8.5.0", origin: undefined })).toMatchObject({
      body: { accepted: 2 },
    });
  });
});

describe("a public key", () => {
  test("that is missing, unknown or an access token is 401", async () => {
    const made = await shop();
    for (const key of [undefined, null, 1, "", "vp_", `vp_${"A".repeat(22)}`, made.store.token, `${made.key}x`]) {
      expect(await collect(sentBy(made, { key }))).toMatchObject({ status: 401, body: { code: "UNAUTHENTICATED" } });
    }
    expect(await storedEvents(app, made.store)).toBe(0);
  });

  test("is no access token: it is 401 everywhere else", async () => {
    const { store, key, lsId } = await shop();
    const asToken = storeAt(app.url, { id: store.id, token: key });
    for (const path of ["/external/product/v1/a", `/external/analytics/v1/live-streams/${lsId}`]) {
      expect(await asToken.get(path)).toMatchObject({ status: 401 });
    }
    expect(await asToken.post("/graphql", { query: "{ __typename }" })).toMatchObject({ status: 401 });
  });

  test("stops working within 5 seconds of its revocation", async () => {
    const clock = stopClock();
    const made = await shop();
    expect(await collect(sentBy(made))).toMatchObject({ status: 202 });
    await revokeKey(app.db, made.store.id, made.id);
    clock.pass(5_001);
    expect(await collect(sentBy(made))).toMatchObject({ status: 401 });
  });

  test("is named in the titles of refusals, and may be allowed on sandboxed pages", async () => {
    const made = await shop();
    expect(await collect(sentBy(made, { key: "vp_" }))).toMatchObject({
      body: { title: "Public key missing or invalid" },
    });
    expect(await collect(sentBy(made), { origin: "null" })).toMatchObject({
      status: 403,
      body: { title: "Not allowed by the public key" },
    });
    const { key } = await issueKey(app.db, made.store.id, { origins: [origin], isSandboxed: true });
    expect(await collect(sentBy({ ...made, key }), { origin: "null" })).toMatchObject({ status: 202 });
  });

  test("reaches the shows of its own store alone", async () => {
    const [one, other] = [await shop(), await shop()];
    for (const show of [other.lsId, "nowhere", "", "\0"]) {
      expect(await collect(sentBy(one, { show }))).toMatchObject({
        status: 404,
        body: { code: "LIVE_STREAM_NOT_FOUND" },
      });
    }
    await saved(other.store, { id: one.lsId });
    expect(await collect(sentBy(one))).toMatchObject({ body: { accepted: 2 } });
    expect(await storedEvents(app, other.store)).toBe(0);
  });

  test("is taken from pages of its origins alone", async () => {
    const made = await shop([origin, "https://*.shops.example:8443"]);
    for (const allowed of [origin, "https://a.shops.example:8443", "https://a.b.shops.example:8443", undefined]) {
      expect(await collect(sentBy(made), { origin: allowed }), String(allowed)).toMatchObject({ status: 202 });
    }
    for (const refused of [
      "https://evil.example",
      "http://shop.example",
      "https://shop.example.evil.example",
      "https://shops.example:8443",
      "https://.shops.example:8443",
      "https://evilshops.example:8443",
      "https://a.shops.example",
      "null",
    ]) {
      expect(await collect(sentBy(made), { origin: refused }), refused).toMatchObject({
        status: 403,
        body: { code: "FORBIDDEN", detail: "Pages of this origin may not use the public key." },
      });
    }
  });
});

describe("a problem", async () => {
  const made = await shop();

  test.each(["ORDER", "REFUND"])("of type %s is 403, and nothing of the request is stored", async (type) => {
    const events = [view, { id: "o", type, amount: 1 }];
    expect(await collect(sentBy(made, { events }))).toMatchObject({
      status: 403,
      body: { code: "FORBIDDEN", errors: [{ path: ["events", 1, "type"] }] },
    });
    expect(await storedEvents(app, made.store)).toBe(0);
  });

  test.each([
    [{ show: 1 }, ["show"]],
    [{ events: {} }, ["events"]],
    [{ events: Array.from({ length: 101 }, (_, index) => ({ ...view, id: `${index}` })) }, ["events"]],
    [{ color: "red" }, ["color"]],
    [{ events: [null] }, ["events", 0]],
    [{ events: [view, { ...cart, color: "red" }] }, ["events", 1, "color"]],
    [{ events: [{ ...view, seconds: -1 }] }, ["events", 0, "seconds"]],
    [{ events: [{ ...view, type: "LOOK" }] }, ["events", 0, "type"]],
    [{ events: [{ ...view, id: undefined }] }, ["events", 0, "id"]],
    [{ channel: "REFERRAL" }, ["events", 0, "channel"]],
    [{ channel: undefined }, ["events", 0, "channel"]],
    [{ viewer: undefined }, ["events", 0, "viewerId"]],
  ])("of the content is 400 with its place: %.70j", async (fields, path) => {
    const { status, body } = await collect(sentBy(made, fields));
    expect([status, body.code, body.errors[0].path]).toEqual([400, "VALIDATION_FAILED", path]);
    expect(await storedEvents(app, made.store)).toBe(0);
  });

  test.each([
    "NaN",
    "undefined",
    "null",
    "[object Object]",
    "guest",
    " Anonymous ",
    "0",
    "{{ customer.id }}",
    "${user}",
  ])("is a viewer that identifies nobody: %s", async (viewer) => {
    const message = `viewerId must be an id that identifies one viewer, not ${JSON.stringify(viewer)}.`;
    const { status, body } = await collect(sentBy(made, { viewer }));
    expect([status, body.errors[0]]).toEqual([
      400,
      { code: "INVALID_VALUE", message, path: ["events", 0, "viewerId"] },
    ]);
    const events = [{ id: "o", type: "ORDER", channel: "LIVE", amount: 1, viewerId: viewer }];
    const record =
      "mutation ($lsId: String!, $events: [ShopperEventInput!]!) { recordShopperEvents(lsId: $lsId, events: $events) { accepted } }";
    const { errors } = await made.store.graphql(record, { lsId: made.lsId, events });
    expect(errors).toMatchObject([{ message }]);
    expect(await storedEvents(app, made.store)).toBe(0);
  });

  test.each(["", "{", "[]", "null", "1", `"vp_"`])("of a body that is no JSON object is 400: %j", async (body) => {
    expect(await collect(body)).toMatchObject({ status: 400, body: { code: "BAD_REQUEST" } });
  });

  test("of its media type, size, method or show's status is refused with the usual errors", async () => {
    expect(await collect(sentBy(made), { "content-type": "text/csv" })).toMatchObject({ status: 415 });
    expect(await collect(sentBy(made, { pad: "x".repeat(65_536) }))).toMatchObject({ status: 413 });
    expect(await collect(gzipSync("x".repeat(70_000)), { "content-encoding": "gzip" })).toMatchObject({ status: 413 });
    const get = await collect("", {}, "GET");
    expect([get.status, get.headers.get("allow")]).toEqual([405, "POST"]);
    const { id: archived } = await saved(made.store, { status: "ARCHIVED" });
    expect(await collect(sentBy(made, { show: archived }))).toMatchObject({
      status: 400,
      body: { detail: "The show is archived and takes no more events." },
    });
  });
});

test("before a scheduled show has started is 425 with the time to wait; its first event after that makes it live", async () => {
  const made = await shop();
  const clock = stopClock();
  const startedAt = fromNow(90_000).toISOString();
  const { id } = await saved(made.store, { status: "SCHEDULED", startedAt, durationSeconds: null });
  const early = await collect(sentBy(made, { show: id }));
  expect(early).toMatchObject({ status: 425, body: { type: "urn:vitrine:problem:too-early", code: "TOO_EARLY" } });
  expect(early.headers.get("retry-after")).toBe("90");
  expect(await storedEvents(app, made.store)).toBe(0);
  const where = { storeId_id: { storeId: made.store.id, id } };
  clock.pass(90_000);
  expect(await collect(sentBy(made, { show: id }))).toMatchObject({ status: 202, body: { accepted: 2 } });
  expect(await app.db.liveStream.findUnique({ where })).toMatchObject({ status: "LIVE" });
});

test("of the channel AUTO counts as LIVE until the show ends, and as REPLAY afterwards, by its own time", async () => {
  const made = await shop();
  const { id: show } = await saved(made.store, { status: "LIVE", durationSeconds: null });
  const auto = { show, channel: "AUTO", viewer: "v1" };
  expect(await collect(sentBy(made, auto))).toMatchObject({ body: { accepted: 2 } });
  const startedAt = ago(3_600_000).toISOString();
  await saved(made.store, { id: show, status: "ENDED", startedAt, durationSeconds: 3_000 });
  const [before, after] = [ago(700_000), ago(500_000)];
  const events = [
    { id: "b", type: "VIEW", occurredAt: before.toISOString() },
    { id: "a", type: "ADD_TO_CART", productId: "shirt", occurredAt: after.toISOString() },
    { id: "n", type: "VIEW", seconds: 5 },
  ];
  expect(await collect(sentBy(made, { ...auto, viewer: "v2", events }))).toMatchObject({ body: { accepted: 3 } });
  expect(await kpis(made.store, show)).toMatchObject({
    viewers: { live: 2, replay: 1 },
    addToCart: { replay: 100 },
  });
});

test("of the channel AUTO counts as LIVE where it began before the show's end and the delay of players", async () => {
  const made = await shop();
  const ended = ago(600_000).getTime();
  const startedAt = new Date(ended - 3_600_000).toISOString();
  const { id: show } = await saved(made.store, { status: "ENDED", startedAt, durationSeconds: 3_600 });
  const after = (seconds: number) => new Date(ended + seconds * 1_000).toISOString();
  const batchOf = (viewer: string, event: object) =>
    collect(sentBy(made, { show, channel: "AUTO", viewer, events: [{ id: viewer, ...event }] }));
  await batchOf("v1", { type: "VIEW", seconds: 60, occurredAt: after(80) });
  await batchOf("v2", { type: "VIEW", seconds: 60, occurredAt: after(100) });
  await batchOf("v3", { type: "ADD_TO_CART", productId: "shirt", occurredAt: after(20) });
  await batchOf("v4", { type: "ADD_TO_CART", productId: "shirt", occurredAt: after(40) });
  const stored = await app.db.showEvent.findMany({ where: { storeId: made.store.id }, orderBy: { occurredAt: "asc" } });
  expect(stored.map(({ channel }) => channel)).toEqual([1, 2, 1, 2]); // after 20, 40, 80 and 100 seconds
});

describe("CORS", () => {
  test("answers a preflight of any origin, and allows no credentials", async () => {
    const response = await fetch(`${app.url}/collect/v1`, {
      method: "OPTIONS",
      headers: { origin: "https://any.example", "access-control-request-method": "POST" },
    });
    expect(response.status).toBe(204);
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    expect(response.headers.get("access-control-allow-headers")?.toLowerCase()).toContain("content-type");
    expect(response.headers.has("access-control-allow-credentials")).toBe(false);
    const { headers } = await collect(sentBy(await shop()));
    expect(headers.get("access-control-allow-origin")).toBe("*");
  });
});
