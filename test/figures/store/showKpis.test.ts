import { expect, test } from "vitest";
import { recordEvents } from "../../../src/events/record/events.record.js";
import { issueToken } from "../../../src/stores/token.js";
import { createTestStore, openTestApp, storeAt, testDatabase } from "../../support/app.js";
import { asInputs, insertShows, someEvents } from "../../support/figures.js";
import { accepted, kpis } from "../../support/oracle.js";
import { limitHeaders, sendGraphQL } from "../../support/access/rateLimit.js";
import { kpiFields, saved, saveShow, show } from "../../support/shows.js";

const statements: string[] = [];
const app = await openTestApp(
  {},
  testDatabase((sql) => statements.push(sql)),
);

const listed = `{ liveStreams(first: 50) { nodes { id kpis { ${kpiFields} } } } }`;

test("the KPIs of a page of shows are each show's own, read by one statement", async () => {
  const [store, other] = [await createTestStore(app), await createTestStore(app)];
  const expected = new Map<string, object>();
  const ids = ["a", "b", "c", "d"];
  for (const of of [store, other]) {
    const shows = ids.map((id) => ({ id, status: "ENDED" as const, startedAt: "2026-05-04T18:30:00Z" }));
    await insertShows(app.db, of.id, shows);
  }
  for (const [n, id] of ids.entries()) {
    const events = someEvents(n * 30).slice(n);
    await recordEvents(app.db, store.id, id, asInputs(events));
    await recordEvents(app.db, other.id, id, asInputs(someEvents(3)));
    expected.set(id, kpis(accepted(events)));
  }
  const { data, errors } = await store.graphql(listed);
  expect(errors).toBeUndefined();
  expect(new Map(data.liveStreams.nodes.map((node: any) => [node.id, node.kpis]))).toEqual(expected);
  statements.length = 0;
  await store.graphql(listed.replace("50", "3"));
  const sent = statements.filter((sql) => !sql.includes("slot >= 0")); // without those that fold totals
  expect(sent.filter((sql) => sql.includes(`"LiveStream"`))).toHaveLength(2);
});

test("they count as one analytics read for each root field that selects them, and lists without them as none", async () => {
  const store = await createTestStore(app);
  for (let n = 0; n < 5; n += 1) await saved(store);
  const withKpis = "nodes { kpis { orders { total } } } edges { node { kpis { sales { total } } } }";
  const readsLeft = async (query: string) => limitHeaders(await sendGraphQL(store, query))[1];
  expect(await readsLeft(`{ liveStreams { nodes { id } } }`)).toBeNull();
  // More than two calls, so that the operation is compiled, too.
  for (let left = 99; left > 94; left -= 1) {
    expect(await readsLeft(`{ liveStreams { ${withKpis} } }`)).toMatch(`"analytics";r=${left};`);
  }
  expect(await readsLeft(`{ a: liveStreams { ${withKpis} } b: liveStreams { ${withKpis} } }`)).toMatch(`r=93;`);
  const aliases = Array.from({ length: 93 }, (_, n) => `a${n}: liveStreamAnalytics(lsId: "none") { id }`);
  await sendGraphQL(store, `{ ${aliases.join(" ")} }`);
  const { data, errors } = await store.graphql(
    `{ liveStreams(first: 1) { nodes { name kpis { orders { total } } } } }`,
  );
  expect(data).toEqual({ liveStreams: { nodes: [{ name: "Spring collection", kpis: null }] } });
  expect(errors?.map(({ path, extensions }) => [path, extensions.code])).toEqual([
    [["liveStreams", "nodes", 0, "kpis"], "RATE_LIMITED"],
  ]);
  expect(await readsLeft(`{ liveStreams { nodes { id } } }`)).toBeNull();
});

test("they need analytics:read, also of a show that was just saved, and are not in REST", async () => {
  const store = await createTestStore(app);
  const { token } = await issueToken(app.db, store.id, { scopes: ["shows:write"] });
  const query = saveShow.replace("{ id name", "{ id kpis { orders { total } } name");
  const refused = await storeAt(app.url, { id: store.id, token }).graphql(query, { liveStream: show() });
  expect(refused.data.saveLiveStream).toMatchObject({ name: "Spring collection", kpis: null });
  expect(refused.errors?.map(({ extensions }) => extensions.code)).toEqual(["FORBIDDEN"]);
  const { data } = await store.graphql(query, { liveStream: show() });
  expect(data.saveLiveStream.kpis).toEqual({ orders: { total: 0 } });
  const { body } = await store.get("/external/analytics/v1/live-streams");
  expect(Object.keys(body.nodes[0])).toEqual([
    "id",
    "name",
    "status",
    "startedAt",
    "endedAt",
    "durationSeconds",
    "host",
  ]);
});
