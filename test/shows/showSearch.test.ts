import { beforeAll, expect, test } from "vitest";
import { createTestStore, openTestApp } from "../support/app.js";
import { saved } from "../support/shows.js";

const app = await openTestApp({ analyticsRateLimit: 0 });
const store = await createTestStore(app);
beforeAll(async () => {
  const shows = [
    ["s1", "Herbst-Äpfel & Birnen", "ENDED"],
    ["s2", "Autumn looks: 100% linen", "ENDED"],
    ["s3", "Autumn_looks", "ARCHIVED"],
    ["s4", "Autumn shoes \\o/", "SCHEDULED"],
    ["looks-5", "عرض الخريف", "LIVE"],
  ] as const;
  for (const [index, [id, name, status]] of shows.entries()) {
    const startedAt = status === "SCHEDULED" ? "2099-01-01T00:00:00.000Z" : `2026-05-0${9 - index}T00:00:00.000Z`;
    await saved(store, { id, name, status, startedAt });
  }
  const stranger = await createTestStore(app);
  await saved(stranger, { name: "Autumn looks of another store" });
});

const list = `query ($search: String, $status: LiveStreamStatus, $first: Int, $after: String) {
  liveStreams(search: $search, status: $status, first: $first, after: $after) {
    totalCount nodes { id } pageInfo { hasNextPage endCursor }
  }
}`;

test.each([
  [null, ["s1", "s2", "s3", "looks-5", "s4"]],
  ["  ", ["s1", "s2", "s3", "looks-5", "s4"]],
  ["autumn", ["s2", "s3", "s4"]],
  ["LOOKS  AUTUMN", ["s2", "s3"]],
  ["ÄPFEL", ["s1"]],
  ["äpfel herbst", ["s1"]],
  ["100%", ["s2"]],
  ["autumn_", ["s3"]],
  ["\\", ["s4"]],
  ["looks-5", ["looks-5"]],
  ["الخريف", ["looks-5"]],
  ["%", ["s2"]],
  ["nothing of the kind", []],
  ["\0", []],
  ["\ud800", []],
])("a search for %j finds shows by the words of their name and id, and counts them", async (search, ids) => {
  const { data, errors } = await store.graphql(list, { search });
  expect(errors).toBeUndefined();
  expect(data.liveStreams.nodes.map(({ id }: { id: string }) => id)).toEqual(ids);
  expect(data.liveStreams.totalCount).toBe(ids.length);
});

test("a search of more than 200 characters is refused", async () => {
  const { errors } = await store.graphql(list, { search: "x".repeat(201) });
  expect(errors).toMatchObject([
    {
      extensions: { code: "VALIDATION_FAILED", errors: [{ path: ["search"] }] },
      message: expect.stringContaining("200"),
    },
  ]);
});

const hosted = "query ($host: String) { liveStreams(host: $host) { totalCount nodes { id } } }";

test("a host that cannot be one has no shows, and one of more than 255 characters is refused", async () => {
  for (const host of ["\0", "\ud800", "x".repeat(255)]) {
    const { data } = await store.graphql(hosted, { host });
    expect(data.liveStreams).toEqual({ totalCount: 0, nodes: [] });
  }
  expect((await store.graphql(hosted, { host: "x".repeat(256) })).errors).toMatchObject([
    { message: "host must have at most 255 characters.", extensions: { errors: [{ path: ["host"] }] } },
  ]);
});

test("shows of a host are listed over REST", async () => {
  const own = await createTestStore(app);
  await saved(own, { id: "hosted", host: { name: "Alex Meyer", email: "alex@shop.example" } });
  await saved(own, { id: "other" });
  for (const host of ["alex+meyer", "ALEX%40shop.example"]) {
    const { status, body } = await own.get(`/external/analytics/v1/live-streams?host=${host}`);
    expect([status, body.totalCount, body.nodes[0].id]).toEqual([200, 1, "hosted"]);
  }
});
