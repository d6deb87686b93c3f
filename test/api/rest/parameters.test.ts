import { beforeAll, describe, expect, test } from "vitest";
import { createTestStore, openTestApp, type TestStore } from "../../support/app.js";
import { readAnswer } from "../../support/call.js";
import { toCsv } from "../../support/catalog/csv.js";
import { invalid, refusal } from "../../support/problems.js";
import { paths, product, storedKeys } from "../../support/products.js";

const app = await openTestApp({ analyticsRateLimit: 0 });
let store: TestStore;
beforeAll(async () => {
  store = await createTestStore(app);
  await store.post(paths.bulk, { products: [product("kept"), product("other")] });
  await put("");
});

const show = "/external/analytics/v1/live-streams/show";
const events = `${show}/events`;
const send = async (method: string, path: string, type: string, body: string) =>
  readAnswer(await store.fetch(path, { method, headers: { "content-type": type }, body }));
const json = "application/json";
const put = (query: string, name = "Show") => {
  const liveStream = { name, startedAt: "2026-05-04T18:00:00Z", durationSeconds: 60, status: "LIVE" };
  return send("PUT", show + query, json, JSON.stringify({ liveStream }));
};
const view = { eventId: "e", type: "VIEW", channel: "LIVE", shopperId: "s", occurredAt: "2026-05-04T18:01:00Z" };
const line = JSON.stringify(view);

const one = product("new");
/** Every call that writes, with what it may be sent with. */
const writes: Readonly<Record<string, (query: string) => ReturnType<typeof send>>> = {
  product: (query) => send("POST", paths.one + query, json, JSON.stringify({ product: one })),
  products: (query) => send("POST", paths.bulk + query, json, JSON.stringify({ products: [one] })),
  csvContent: (query) => send("POST", paths.csv + query, json, JSON.stringify({ csvContent: toCsv([one]) })),
  "text/csv": (query) => send("POST", paths.csv + query, "text/csv", toCsv([one])),
  NDJSON: (query) => send("POST", paths.bulk + query, "application/x-ndjson", JSON.stringify(one)),
  "a show": (query) => put(query, "Changed"),
  events: (query) => send("POST", events + query, json, JSON.stringify({ events: [view] })),
  "events as NDJSON": (query) => send("POST", events + query, "application/x-ndjson", line),
};
const write = (name: string, query: string) => (writes[name] ?? put)(query);

async function expectNothingWritten() {
  expect(await storedKeys(app, store)).toEqual({ kept: "sku-kept", other: "sku-other" });
  const { body } = await store.get(show);
  expect([body.name, body.kpis.viewers.total]).toEqual(["Show", 0]);
}

const inBody = "belongs in the body";
const besideCsv = `${inBody}; it is a parameter only if the body is text/csv`;
const besideNdjson = `${inBody}; it is a parameter only if the body is application/x-ndjson`;

describe("a parameter that belongs elsewhere is refused, and the message says where", () => {
  test.each([
    ["product", "?dryRun=true", "dryRun", inBody],
    ["product", "?siteId=web", "siteId", inBody],
    ["product", "?siteType=shop", "siteType", inBody],
    ["product", "?product=x", "product", inBody],
    ["product", "?price=1", "price", "belongs in the body, in product"],
    ["products", "?dryRun=true", "dryRun", besideNdjson],
    ["products", "?mode=UPSERT", "mode", besideNdjson],
    ["products", "?mode=", "mode", besideNdjson],
    ["products", "?mode", "mode", besideNdjson],
    ["products", "?maxDeletions=0", "maxDeletions", besideNdjson],
    ["products", "?siteId=nowhere", "siteId", besideNdjson],
    ["products", "?siteId=&siteId=web", "siteId", besideNdjson],
    ["products", "?products=[]", "products", inBody],
    ["products", "?id=a", "id", "belongs in the body, in products"],
    ["csvContent", "?errorPolicy=REJECT_FAILED", "errorPolicy", besideCsv],
    ["csvContent", "?csvContent=x", "csvContent", inBody],
    ["csvContent", "?format=shopify", "format", "is a parameter only if the body is text/csv"],
    ["csvContent", "?delimiter=tab", "delimiter", "is a parameter only if the body is text/csv"],
    ["text/csv", "?csvContent=id", "csvContent", "is the body itself if the body is text/csv"],
    ["NDJSON", "?products=[]", "products", "is the body itself if the body is application/x-ndjson"],
    ["a show", "?liveStream=x", "liveStream", inBody],
    ["a show", "?status=ENDED", "status", "belongs in the body, in liveStream"],
    ["a show", "?lsId=other", "lsId", "is in the path"],
    ["events", "?events=x", "events", inBody],
    ["events", "?lsId=other", "lsId", "is in the path"],
    ["events as NDJSON", "?lsId=other", "lsId", "is in the path"],
    ["events as NDJSON", "?type=VIEW", "type", "belongs in the body, in events"],
  ])("%s: %s", async (name, query, parameter, place) => {
    const message = `${parameter} ${place}.`;
    const problem = { code: "BAD_REQUEST", message, path: [parameter] };
    expect(await write(name, query)).toEqual(refusal("BAD_REQUEST", message, [problem]));
    await expectNothingWritten();
  });

  test("all of them in one answer, with what is wrong besides", async () => {
    const { status, body } = await write("products", "?mode=REPLACE&dryRun=true&dryrun=true&siteId=");
    expect([status, body.code, body.detail]).toEqual([400, "BAD_REQUEST", "3 problems. Nothing was stored."]);
    expect(body.errors.map(({ code, path }: any) => [code, ...path])).toEqual([
      ["BAD_REQUEST", "mode"],
      ["BAD_REQUEST", "dryRun"],
      ["UNKNOWN_FIELD", "dryrun"],
    ]);
    await expectNothingWritten();
  });
});

const unknown = ["dryrun", "DRYRUN", "dryRun[]", "mode[]", "dry_run", "dryRun ", "_", "", "__proto__", "constructor"];

describe("an unknown parameter is named, and nothing is written", () => {
  test.each(Object.keys(writes))("%s", async (name) => {
    for (const parameter of unknown) {
      const { status, body } = await write(name, `?${encodeURIComponent(parameter)}=true`);
      expect([status, body.code, body.errors]).toEqual([
        400,
        "VALIDATION_FAILED",
        [{ code: "UNKNOWN_FIELD", message: body.detail, path: [parameter] }],
      ]);
      expect(body.detail).toContain(`Unknown parameter ${JSON.stringify(parameter)}. The `);
    }
    await expectNothingWritten();
  });

  test("with those that there are", async () => {
    const hint = async (name: string) => (await write(name, "?x")).body.detail;
    const common = "siteId, siteType, mode, maxDeletions, errorPolicy, dryRun";
    const options = "format, urlTemplate, delimiter, encoding";
    const told = 'Unknown parameter "x".';
    expect(await hint("NDJSON")).toBe(`${told} The parameters are ${common}.`);
    expect(await hint("text/csv")).toContain(`${told} The parameters are ${common}, ${options}`);
    expect(await hint("products")).toBe(`${told} The arguments are members of the body: products, ${common}.`);
    expect(await hint("a show")).toBe(`${told} The arguments are members of the body: liveStream.`);
  });
});

test.each([
  ["text/csv", "mode=UPSERT&mode=REPLACE", "mode"],
  ["text/csv", "delimiter=comma&delimiter=tab", "delimiter"],
  ["text/csv", "siteId=&siteId=", "siteId"],
  ["NDJSON", "dryRun=false&dryRun=true", "dryRun"],
  ["NDJSON", "dryRun=true&dryR%75n=true", "dryRun"],
])("beside %s, a repeated parameter is refused: %s", async (name, query, parameter) => {
  const message = `${parameter} is given 2 times, not once.`;
  expect(await write(name, `?${query}`)).toEqual(invalid({ code: "INVALID_VALUE", message, path: [parameter] }));
  await expectNothingWritten();
});

test("a query string without parameters, and empty sites beside JSON, are accepted", async () => {
  for (const query of ["?", "?&", "?siteId=&siteType=", "?siteId&siteType"]) {
    const body = JSON.stringify({ products: [one], dryRun: true });
    expect((await send("POST", paths.bulk + query, json, body)).status).toBe(200);
  }
});

describe("exports name parameters that they do not know, and repeated ones", () => {
  const range = "from=2026-01-01T00:00:00Z&until=2026-02-01T00:00:00Z";
  const shows = "/external/analytics/v1/live-streams.csv";
  const list = "/external/analytics/v1/live-streams";
  const hints = {
    [list]: "The parameters are first, after, status, search, host, from, until, orderBy, direction.",
    [`${show}/timeline`]: "The parameters are bucketSeconds, from, until.",
    [`${show}/kpis`]: "The path takes none.",
    [paths.csv]: "The parameters are available, siteId, siteType, updatedSince.",
    [shows]: "The parameters are from, until, bom, delimiter.",
  };

  test.each([
    [paths.csv, "avialable=true", "avialable"],
    [paths.csv, "Available=true", "Available"],
    [paths.csv, "available[]=true", "available[]"],
    [paths.csv, "updated_since=2026-01-01T00:00:00Z", "updated_since"],
    [paths.csv, "delimeter=;", "delimeter"],
    [paths.csv, "available=yes&first=1", "first"],
    [shows, `${range}&delimeter=;`, "delimeter"],
    [list, "frist=1", "frist"],
    [`${show}/timeline`, "buckets=60", "buckets"],
    [`${show}/kpis`, "bucketSeconds=60", "bucketSeconds"],
    [shows, `${range}&timeZone=UTC`, "timeZone"],
    [shows, "to=2026-02-01T00:00:00Z", "to"],
  ])("%s?%s", async (path, query, name) => {
    const message = `Unknown parameter ${JSON.stringify(name)}. ${hints[path] ?? ""}`;
    const refused = invalid({ code: "UNKNOWN_FIELD", message, path: [name] });
    expect(await store.get(`${path}?${query}`)).toEqual(refused);
    expect((await store.fetch(`${path}?${query}`, { method: "HEAD" })).status).toBe(400);
  });

  test.each([
    [paths.csv, "available=true&available=false", "available"],
    [paths.csv, "siteId=a&siteId=b", "siteId"],
    [list, "first=1&first=2", "first"],
    [shows, `${range}&from=2026-01-02T00:00:00Z`, "from"],
  ])("%s?%s, which is repeated", async (path, query, name) => {
    const message = `${name} is given 2 times, not once.`;
    expect(await store.get(`${path}?${query}`)).toEqual(invalid({ code: "INVALID_VALUE", message, path: [name] }));
  });
});

test("reads of the contract ignore what they do not know", async () => {
  const { status } = await store.get(`${paths.of("kept")}?dryRun=true&siteid=x&x=1&x=2`);
  expect(status).toBe(200);
  expect((await store.get(`${show}?from=x&from=y&lsId=other`)).body.id).toBe("show");
});

test.each(["siteId=&siteId=nowhere", "siteType=&siteType=", "siteId=&site%49d="])(
  "reads of the contract refuse a parameter of theirs that is repeated: %s",
  async (query) => {
    const name = query.split("=")[0] ?? "";
    const refused = invalid({ code: "INVALID_VALUE", message: `${name} is given 2 times, not once.`, path: [name] });
    expect(await store.get(`${paths.of("kept")}?${query}`)).toEqual(refused);
    expect(await store.delete(`${paths.of("kept")}?${query}`)).toEqual(refused);
    await expectNothingWritten();
  },
);

test("a deletion names a parameter that it does not know, and deletes nothing", async () => {
  for (const name of ["force", "dryRun", "siteid"]) {
    const message = `Unknown parameter ${JSON.stringify(name)}. The parameters are siteId, siteType.`;
    const refused = invalid({ code: "UNKNOWN_FIELD", message, path: [name] });
    expect(await store.delete(`${paths.of("other")}?${name}=true`)).toEqual(refused);
  }
  expect((await store.delete(`${paths.of("other")}?productId=kept`)).body.detail).toBe("productId is in the path.");
  await expectNothingWritten();
  expect((await store.delete(`${paths.of("other")}?siteId=&siteType=`)).status).toBe(200);
});
