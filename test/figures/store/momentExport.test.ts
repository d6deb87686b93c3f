import { beforeAll, describe, expect, test } from "vitest";
import { exportMoments, exportShows } from "../../../src/figures/store/showExport.js";
import { momentColumns } from "../../../src/figures/store/momentRows.js";
import { pruneBefore } from "../../../src/figures/totals/pruneBefore.js";
import { createTestStore, openTestApp, type TestStore } from "../../support/app.js";
import { order, view } from "../../support/events.js";
import { pin, savedMoments, second } from "../../support/figures/moments.js";
import { recorded, saved } from "../../support/shows.js";

const app = await openTestApp({ analyticsRateLimit: 2 });

const path = "/external/analytics/v1/moments.csv";
const may = "from=2026-05-01T00:00:00Z&until=2026-06-01T00:00:00Z";
const columns =
  "showId,id,kind,startedAt,endedAt,productId,hostName,hostEmail,title,seconds,sales,net_sales,orders,quantity,add_to_cart," +
  "viewers_at_start,peak_viewers,average_viewers,new_viewers,product_sales,product_orders,product_quantity,product_add_to_cart,is_exact";

async function textOf(pieces: AsyncIterable<Buffer>): Promise<string> {
  let text = "";
  for await (const piece of pieces) text += piece.toString();
  return text;
}

async function read(store: TestStore, query: string) {
  const response = await store.fetch(`${path}?${query}`);
  return {
    status: response.status,
    headers: response.headers,
    text: Buffer.from(await response.arrayBuffer()).toString(),
  };
}

/** A store with two shows of May that have moments, one that has none, and one of June. */
async function storeWithMoments() {
  const store = await createTestStore(app);
  for (const [id, startedAt] of [
    ["b", second(0)],
    ["a", second(7_200)],
    ["none", second(0)],
    ["june", "2026-06-01T00:00:00Z"],
  ] as const) {
    await saved(store, { id, startedAt });
  }
  const shirt = { productId: "shirt", quantity: 2, amount: 30 };
  await recorded(store, "b", [
    view("view", { viewerId: "ann", seconds: 10, occurredAt: second(20) }),
    { id: "cart", type: "ADD_TO_CART", channel: "LIVE", viewerId: "ann", productId: "shirt", occurredAt: second(12) },
    order("order", 35.5, { lines: [shirt, { productId: "mug", quantity: 1, amount: 5 }], occurredAt: second(19) }),
  ]);
  const host = { name: "-Robin", email: "robin@shop.example" };
  await savedMoments(store, "b", [
    pin("pin", 10, { endedAt: second(30), title: "=1+1" }),
    { id: "host", kind: "HOST", startedAt: second(3_000), host, title: "Good\n@bye" },
  ]);
  await savedMoments(store, "a", [{ id: "+1", kind: "MARKER", startedAt: second(7_300), endedAt: second(7_301) }]);
  await savedMoments(store, "june", [{ id: "other", kind: "MARKER", startedAt: "2026-06-01T00:00:00Z" }]);
  return store;
}

const pinned = `"b","pin",PIN,${second(10)},${second(30)},"shirt","","","'=1+1",20,35.5,35.5,1,3,1,1,1,0.5,1,30,1,2,1,true\n`;
const hosted = `"b","host",HOST,${second(3_000)},${second(3_600)},"","'-Robin","robin@shop.example","Good\n'@bye",600,0,0,0,0,0,0,0,0,0,,,,,true\n`;
const marked = `"a","'+1",MARKER,${second(7_300)},${second(7_301)},"","","","",1,0,0,0,0,0,0,0,0,0,,,,,true\n`;

describe("moments of the shows that started in the range", () => {
  let store: TestStore;
  beforeAll(async () => {
    store = await storeWithMoments();
  });

  test("have a row each, below a header, in the order of their shows and of their start; no text is a formula", async () => {
    const { status, headers, text } = await read(store, may);
    expect([status, headers.get("content-type"), headers.get("content-disposition")]).toEqual([
      200,
      "text/csv; charset=utf-8",
      'attachment; filename="moments.csv"',
    ]);
    expect(text).toBe(`${columns}\n${pinned}${hosted}${marked}`);
    expect(momentColumns.join(",")).toBe(columns);
  });

  test("have semicolons and decimal commas for spreadsheets", async () => {
    const { text } = await read(store, `${may}&bom=true&delimiter=;`);
    const [header = "", first = ""] = text.split("\n");
    expect(header).toBe(`\ufeff${columns.replaceAll(",", ";")}`);
    expect(first).toMatch(/;20;35,5;35,5;1;3;1;1;1;0,5;1;30;1;2;1;true$/u);
    expect((await read(store, may)).status, "each is an analytics read").toBe(429);
  });

  test("are members of their shows in NDJSON", async () => {
    const shows = (await textOf(exportShows(app.db, store.id, "ndjson")))
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(shows.map(({ id, moments }) => [id, moments.length])).toEqual([
      ["b", 2],
      ["none", 0],
      ["a", 1],
      ["june", 1],
    ]);
    const figures = {
      seconds: 20,
      sales: 35.5,
      netSales: 35.5,
      orders: 1,
      quantity: 3,
      addToCart: 1,
      viewersAtStart: 1,
      peakViewers: 1,
      averageViewers: 0.5,
      newViewers: 1,
      ofProduct: { sales: 30, orders: 1, quantity: 2, addToCart: 1 },
      isExact: true,
    };
    const times = { startedAt: second(10), endedAt: second(30) };
    expect(shows[0].moments).toEqual([
      { id: "pin", kind: "PIN", ...times, productId: "shirt", host: null, title: "=1+1", figures },
      expect.objectContaining({ id: "host", host: { name: "-Robin", email: "robin@shop.example" }, productId: null }),
    ]);
  });

  test("are counted as they are written", async () => {
    const counts: number[] = [];
    await textOf(exportMoments(app.db, store.id, { onProgress: (rows) => counts.push(rows) }));
    expect(counts).toEqual([2, 3, 4]);
  });
});

test("of pruned shows, cells of what is not known are empty; those of other stores and of no show are not there", async () => {
  const [store, other] = [await storeWithMoments(), await createTestStore(app)];
  await pruneBefore(app.db, store.id, "b", { before: new Date(second(3_600)) });
  const row = `"b","pin",PIN,${second(10)},${second(30)},"shirt","","","'=1+1",0,0,,0,,0,,,,,,,,,false\n`;
  expect((await read(store, may)).text).toContain(`\n${row}`);
  expect((await read(other, may)).text).toBe(`${columns}\n`);
});

test.each([
  ["until=2026-06-01T00:00:00Z", "from"],
  ["from=2026-06-01T00:00:00Z&until=2026-05-01T00:00:00Z", "until"],
  [`${may}&delimiter=|`, "delimiter"],
])("%s is refused with the path of %s", async (query, name) => {
  const { status, text } = await read(await createTestStore(app), query);
  expect([status, JSON.parse(text)]).toMatchObject([400, { code: "VALIDATION_FAILED", errors: [{ path: [name] }] }]);
});
