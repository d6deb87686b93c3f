import { expect, test } from "vitest";
import { createTestStore, openTestApp, type TestStore } from "../../support/app.js";
import { readAnswer } from "../../support/call.js";
import { view } from "../../support/events.js";
import { record, saved, saveShow } from "../../support/shows.js";

const app = await openTestApp();

const lowerCase = "2026-05-04t20:30:00.5+02:00";
const leapSecond = "2016-12-31t23:59:60z";
const shows = "/external/analytics/v1/live-streams";
const ended = { name: "Spring", status: "ENDED", durationSeconds: 60 };

async function put(store: TestStore, startedAt: string) {
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ liveStream: { ...ended, startedAt } });
  return (await readAnswer(await store.fetch(`${shows}/a`, { method: "PUT", headers, body }))).body.startedAt;
}

test.each([
  [lowerCase, "2026-05-04T18:30:00.500Z"],
  [leapSecond, "2017-01-01T00:00:00.000Z"],
])("%s is the same moment in literals, variables, and REST", async (text, moment) => {
  const store = await createTestStore(app);
  const fields = `id: "a", name: "Spring", status: ENDED, durationSeconds: 60`;
  const literal = `mutation { saveLiveStream(liveStream: { ${fields}, startedAt: "${text}" }) { startedAt } }`;
  expect(await store.graphql(literal)).toEqual({ data: { saveLiveStream: { startedAt: moment } } });
  const { data } = await store.graphql(saveShow, { liveStream: { ...ended, id: "a", startedAt: text } });
  expect(data.saveLiveStream.startedAt).toBe(moment);
  expect(await put(store, text)).toBe(moment);
});

test("events have it in variables, and in lines of NDJSON", async () => {
  const store = await createTestStore(app);
  await saved(store, { ...ended, id: "a", startedAt: "2026-05-04T18:30:00Z" });
  const event = (id: string) => view(id, { occurredAt: lowerCase });
  expect(await store.graphql(record, { lsId: "a", events: [event("1")] })).toMatchObject({
    data: { recordShopperEvents: { accepted: 1 } },
  });
  const headers = { "content-type": "application/x-ndjson" };
  const body = `${JSON.stringify(event("2"))}\n`;
  const sent = await readAnswer(await store.fetch(`${shows}/a/events`, { method: "POST", headers, body }));
  expect(sent.body).toMatchObject({ accepted: 1 });
  const stored = await app.db.showEvent.findMany({ where: { storeId: store.id } });
  expect(stored.map(({ occurredAt }) => occurredAt.toISOString())).toEqual(
    Array.from({ length: 2 }, () => "2026-05-04T18:30:00.500Z"),
  );
});

test("in a URL, a + before the time zone need not be percent-encoded", async () => {
  const store = await createTestStore(app);
  await saved(store, { ...ended, id: "a", startedAt: "2026-05-04T18:30:00Z" });
  const range = (from: string) => `from=${from}&until=2026-05-04t20:30:01+02:00`;
  const [within, after] = ["2026-05-04T20:30:00+02:00", "2026-05-04T20:30:00.001+02:00"];
  const listed = async (from: string) => (await store.get(`${shows}?${range(from)}`)).body.totalCount;
  expect([await listed(within), await listed(after)]).toEqual([1, 0]);
  const exported = async (from: string) =>
    (await (await store.fetch(`${shows}.csv?${range(from)}`)).text()).split("\n");
  expect([(await exported(within)).length, (await exported(after)).length]).toEqual([3, 2]);
  const products = await store.fetch("/external/product/v1/bulk/csv?updatedSince=2999-01-01T00:00:00+01:00");
  expect([products.status, (await products.text()).split("\n").length]).toEqual([200, 2]);
});

test("in a URL as elsewhere, a blank between day and time is refused", async () => {
  const store = await createTestStore(app);
  const { status, body } = await store.get(`${shows}?from=2026-05-04+18:30:00Z`);
  const message = 'from must be an ISO 8601 timestamp with a time zone, not "2026-05-04 18:30:00Z".';
  expect({ status, errors: body.errors }).toMatchObject({ status: 400, errors: [{ message, path: ["from"] }] });
});
