import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestStore, startApp, type TestApp, testDatabase, type TestStore } from "../../support/app.js";
import { stopClock } from "../../support/clock.js";
import { atOnce, storeWithShow } from "../../support/access/rateLimit.js";
import { order } from "../../support/events.js";
import { record } from "../../support/shows.js";

const database = testDatabase();
let app: TestApp;
let statements = 0;
beforeAll(async () => {
  app = await startApp({ analyticsRateLimit: 20 }, database);
  database.probe.aroundQuery = (_, send) => {
    statements += 1;
    return send();
  };
});
afterAll(() => app.close());

const range = `from: "2026-01-01T00:00:00Z", until: "2027-01-01T00:00:00Z"`;
const kpis = "kpis { sales { total } orders { total } }";
const reads: readonly (readonly [string, string])[] = [
  [
    "storeAnalytics",
    `{ storeAnalytics(${range}) { showCount ${kpis} timeline { orders } topShows { id ${kpis} } previous { showCount } } }`,
  ],
  ["productPerformance", `{ productPerformance(${range}) { totalCount nodes { productId sales } } }`],
  ["a list by figures", `{ liveStreams(orderBy: SALES) { totalCount nodes { id ${kpis} } } }`],
];

/** The status, the answer, and the calls that are left. */
async function ask(store: TestStore, query: string) {
  const options = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ query }) };
  const response = await store.fetch("/graphql", options);
  const left = /r=(\d+)/u.exec(response.headers.get("ratelimit") ?? "")?.[1];
  return { status: response.status, text: await response.text(), left: Number(left) };
}

const events = [order("1", 5, { productId: "cup", occurredAt: "2026-05-04T18:40:00Z" })]; // within the range

describe.each(reads)("equal reads of %s within ten seconds", (_, query) => {
  test("are one call, and those within a second share one result, whatever their text", async () => {
    const store = await storeWithShow(app);
    stopClock();
    const first = await ask(store, query);
    expect([first.status, first.left]).toEqual([200, 19]);
    const before = statements;
    const others = await atOnce(100, (index) => ask(store, `${query}${" ".repeat(index % 5)}`));
    expect(others).toEqual(Array.from({ length: 100 }, () => first));
    expect(statements - before, "statements for 100 reads").toBeLessThan(10);
  });

  test("that begin together share one, too", async () => {
    const store = await storeWithShow(app);
    stopClock();
    const answers = await atOnce(100, () => ask(store, query));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    for (const { status, left } of answers) expect([status, left]).toEqual([200, 19]);
  });

  test("show what the store changed in between, and count again then", async () => {
    const store = await storeWithShow(app);
    const lsId = "show";
    const before = await ask(store, query);
    await store.graphql(record, { lsId, events });
    const after = await ask(store, query);
    expect([before.left, after.left]).toEqual([19, 18]);
    expect(after.text).toContain("5");
    expect(after.text).not.toBe(before.text);
  });

  test("of other stores and with other arguments are calls of their own", async () => {
    const [store, other] = [await storeWithShow(app), await createTestStore(app)];
    await ask(store, query);
    expect((await ask(other, query)).left).toBe(19);
    await store.graphql(record, { lsId: "show", events });
    await ask(store, query);
    expect((await ask(other, query)).text).not.toContain("5");
    const different = query.replace("2026-01-01", "2026-01-02").replace("orderBy: SALES", "orderBy: ORDERS");
    expect((await ask(store, different)).left).toBe(17);
    expect((await ask(store, query)).left).toBe(18);
  });
});

test("a read that is refused is not shared", async () => {
  const store = await storeWithShow(app);
  for (let day = 1; day <= 20; day += 1) {
    const from = `2026-02-${String(day).padStart(2, "0")}T00:00:00Z`;
    expect(
      (await ask(store, `{ storeAnalytics(from: "${from}", until: "2027-01-01T00:00:00Z") { showCount } }`)).status,
    ).toBe(200);
  }
  const [, query = ""] = reads[0] ?? [];
  for (let time = 0; time < 2; time += 1) expect((await ask(store, query)).status).toBe(429);
});
