import { expect, test } from "vitest";
import { showColumns } from "../../../src/figures/store/showColumns.js";
import { setStore } from "../../../src/stores/store.js";
import { createTestStore, openTestApp, type TestStore } from "../../support/app.js";
import { order, storeWithShow } from "../../support/events.js";
import { recorded, saved } from "../../support/shows.js";

const app = await openTestApp({ analyticsRateLimit: 2 });

const path = "/external/analytics/v1/live-streams.csv";
const may = "from=2026-05-01T00:00:00Z&until=2026-06-01T00:00:00Z";

const columns = showColumns.join(",");

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
  const [header, ...rows] = text.trimEnd().split(/\n(?=")|(?<=_\w+)\n/u);
  expect([header, rows.length]).toEqual([columns, 2]);
  expect(rows[0]).toMatch(new RegExp(`^"a","Ärmel, \n kurz",${common}(?:,0)+$`, "u"));
  expect(rows[1]).toContain(`"b","'=HYPERLINK(""x"")",${common},`);
  const cells = rows.map((row) => row.slice(row.indexOf(common)).split(","));
  const cell = (name: string) => cells[1]?.[showColumns.indexOf(name) - showColumns.indexOf("status")];
  expect(cells.map(({ length }) => length)).toEqual([0, 0].map(() => showColumns.length - 2));
  const expected = {
    sales_live: "19.99",
    orders_total: "1",
    viewers_unique: "2",
    add_to_cart_avg: "50",
    avg_view_time_live: "30",
    refunds_total: "5",
    net_sales_total: "14.99",
    devices_mobile: "50",
    devices_other: "50",
    buyer_rate_total: "50",
    engaged_viewers_unique: "2",
  };
  expect(Object.fromEntries(Object.keys(expected).map((name) => [name, cell(name)]))).toEqual(expected);
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

test("no name is a formula in a spreadsheet", async () => {
  const store = await createTestStore(app);
  const names = [
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
  ] as const;
  for (const [name] of names) await saved(store, { id: name, name, startedAt: "2026-05-04T18:30:00Z" });
  const { text } = await read(store, may);
  for (const [, cell] of names) expect(text).toContain(`"${cell}","${cell}",`);
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
