import { expect, test } from "vitest";
import { setStore } from "../../../src/access/stores/store.js";
import { createTestStore, openTestApp, type TestStore } from "../../support/app.js";
import { order, storeWithShow } from "../../support/events.js";
import { recorded, saved } from "../../support/shows.js";

const app = await openTestApp({ analyticsRateLimit: 2 });

const path = "/external/analytics/v1/live-streams.csv";
const may = "from=2026-05-01T00:00:00Z&until=2026-06-01T00:00:00Z";

const columns =
  "id,name,status,startedAt,endedAt,durationSeconds,currency,sales_live,sales_replay,sales_referral,sales_total," +
  "orders_live,orders_replay,orders_referral,orders_total,viewers_live,viewers_replay,viewers_total,viewers_unique," +
  "add_to_cart_live,add_to_cart_replay,add_to_cart_avg,avg_view_time_live,avg_view_time_replay,avg_view_time_avg," +
  "conversion_rate,average_order_value,refunds_live,refunds_replay,refunds_referral,refunds_total,net_sales_live," +
  "net_sales_replay,net_sales_referral,net_sales_total,devices_mobile,devices_tablet,devices_desktop,devices_tv,devices_other," +
  "buyers_live,buyers_replay,buyers_referral,buyers_total,buyers_unique,buyer_rate_live,buyer_rate_replay,buyer_rate_total," +
  "orders_without_viewer_live,orders_without_viewer_replay,orders_without_viewer_referral,orders_without_viewer_total," +
  "engaged_viewers_live,engaged_viewers_replay,engaged_viewers_total,engaged_viewers_unique";

async function read(store: TestStore, query: string, method = "GET") {
  const response = await store.fetch(`${path}?${query}`, { method });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

test("each show that started in the range has a row of figures, below a header", async () => {
  const store = await createTestStore(app);
  await setStore(app.db, store.id, { currency: "EUR" });
  const ended = { status: "ENDED", durationSeconds: 600 };
  await saved(store, { id: "b", name: '=HYPERLINK("x")', startedAt: "2026-05-04T18:30:00Z", ...ended });
  await saved(store, { id: "a", name: "Ärmel, \n kurz", startedAt: "2026-05-04T18:30:00Z", ...ended });
  await saved(store, { id: "june", startedAt: "2026-06-01T00:00:00Z", ...ended });
  const view = { type: "VIEW", channel: "LIVE", seconds: 30 } as const;
  await recorded(store, "b", [
    { ...view, id: "1", viewerId: "v1", device: "mobile" },
    { ...view, id: "2", viewerId: "v2", device: "Fridge" },
    { id: "3", type: "ADD_TO_CART", channel: "LIVE", viewerId: "v1", productId: "p" },
    order("4", 19.99, { viewerId: "v1" }),
    { id: "5", type: "REFUND", channel: "LIVE", amount: 5 },
  ]);
  const { status, headers, text } = await read(store, may);
  expect([status, headers.get("content-type"), headers.get("content-disposition")]).toEqual([
    200,
    "text/csv; charset=utf-8",
    'attachment; filename="live-streams.csv"',
  ]);
  const common = "ENDED,2026-05-04T18:30:00.000Z,2026-05-04T18:40:00.000Z,600,EUR";
  expect(text).toBe(
    [
      columns,
      `"a","Ärmel, \n kurz",${common},${"0,".repeat(48)}0`,
      `"b","'=HYPERLINK(""x"")",${common},19.99,0,0,19.99,1,0,0,1,2,0,2,2,50,0,50,30,0,30,50,19.99,5,0,0,5,14.99,0,0,14.99,50,0,0,0,50,1,0,0,1,1,50,0,50,0,0,0,0,2,0,2,2`,
      "",
    ].join("\n"),
  );
});

test("for spreadsheets, it begins with a byte order mark, and semicolons go with decimal commas", async () => {
  const store = await createTestStore(app);
  const { id: lsId } = await saved(store, { name: "Ärmel; kurz", startedAt: "2026-05-04T18:30:00.000Z" });
  await recorded(store, lsId, [order("1", 1_234.5, { occurredAt: "2026-05-04T18:31:00Z" })]);
  const response = await store.fetch(`${path}?${may}&bom=true&delimiter=;`);
  const text = Buffer.from(await response.arrayBuffer()).toString(); // the mark is kept
  const [header = "", row = ""] = text.split("\n");
  expect(header).toBe(`\ufeff${columns.replaceAll(",", ";")}`);
  expect(row).toMatch(/^"[^"]+";"Ärmel; kurz";\w+;2026-05-04T18:30:00.000Z;[^;]*;\d+;;1234,5;0;0;1234,5;1;/u);
  expect(row.split(";")).toHaveLength(columns.split(",").length + 1);
});

test.each([
  ["=1+1", "'=1+1"],
  ["+49 30", "'+49 30"],
  ["-1", "'-1"],
  ["@SUM(A1)", "'@SUM(A1)"],
  ["\t=1", "'\t=1"],
  ["\n=1", "'\n'=1"],
  ["Sale\n=1", "Sale\n'=1"],
  ["Sale\r\n@x", "Sale\r\n'@x"],
  ["＝1", "'＝1"],
  ["Sale\n50 % = half", "Sale\n50 % = half"],
  ["a-b", "a-b"],
])("the name %j is no formula in a spreadsheet", async (name, cell) => {
  const store = await createTestStore(app);
  await saved(store, { name, startedAt: "2026-05-04T18:30:00Z" });
  expect((await read(store, may)).text).toContain(`,"${cell}",`);
});

test("counts as an analytics read, HEAD too, and is refused over the limit", async () => {
  const { store } = await storeWithShow(app);
  expect(await read(store, may, "HEAD")).toMatchObject({ status: 200, text: "" });
  const { headers } = await read(store, may);
  expect(headers.get("ratelimit")).toMatch(/;r=0;/u);
  expect(await read(store, may)).toMatchObject({ status: 429, text: expect.stringContaining("RATE_LIMITED") });
});

test.each<readonly [query: string, path: string]>([
  ["until=2026-06-01T00:00:00Z", "from"],
  ["from=2026-05-01T00:00:00Z", "until"],
  ["from=2026-05-01&until=2026-06-01T00:00:00Z", "from"],
  ["from=2026-06-01T00:00:00Z&until=2026-05-01T00:00:00Z", "until"],
  ["from=2026-05-01T00:00:00Z&until=2026-06-01T00:00:00Z&delimiter=|", "delimiter"],
  ["from=2026-05-01T00:00:00Z&until=2026-06-01T00:00:00Z&bom=yes", "bom"],
  ["from=2020-06-01T00:00:00Z&until=2026-05-01T00:00:00Z", "until"],
])("the range %j is refused with the path of %s", async (query, name) => {
  const store = await createTestStore(app);
  const { status, text } = await read(store, query);
  expect([status, JSON.parse(text)]).toMatchObject([400, { code: "VALIDATION_FAILED", errors: [{ path: [name] }] }]);
});

test("shows of all pages are exported once, in the order of their start", async () => {
  const store = await createTestStore(app);
  const shows = Array.from({ length: 450 }, (_, index) => ({
    storeId: store.id,
    id: `show-${index}`,
    number: index + 1,
    name: "Many",
    status: "ENDED",
    startedAt: new Date(Date.parse("2026-05-04T00:00:00Z") + (index % 7) * 1_000),
    durationSeconds: 1,
  }));
  await app.db.liveStream.createMany({ data: shows });
  const { text } = await read(store, may);
  const ids = text
    .trimEnd()
    .split("\n")
    .slice(1)
    .map((line) => line.split(",")[0]);
  const expected = shows.toSorted((a, b) => a.startedAt.getTime() - b.startedAt.getTime() || (a.id < b.id ? -1 : 1));
  expect(ids).toEqual(expected.map(({ id }) => `"${id}"`));
});

test("has the shows of its own store only", async () => {
  const [own, other] = [await createTestStore(app), await createTestStore(app)];
  await saved(other, { id: "theirs", status: "ENDED", startedAt: "2026-05-04T18:30:00Z", durationSeconds: 1 });
  expect((await read(own, may)).text).toBe(`${columns}\n`);
});
