import { describe, expect, test } from "vitest";
import { createTestStore, openTestApp } from "../support/app.js";
import { graphqlError, refusal } from "../support/problems.js";
import {
  analyticsPath,
  readAnalytics,
  readShow,
  recorded,
  saved,
  savedShow,
  saveShow,
  show,
} from "../support/shows.js";

const app = await openTestApp({ analyticsRateLimit: 0 });

describe("a saved show", () => {
  test("is read back as it was saved, in both styles", async () => {
    const store = await createTestStore(app);
    const liveStream = show();
    const inGraphQL = { ...savedShow(liveStream), status: "ENDED" };
    expect(await store.graphql(saveShow, { liveStream })).toEqual({ data: { saveLiveStream: inGraphQL } });
    expect(await store.graphql(readShow, { lsId: liveStream.id })).toEqual({ data: { liveStream: inGraphQL } });
    const { data } = await store.graphql(readAnalytics, { lsId: liveStream.id });
    expect(data.liveStreamAnalytics).toMatchObject(inGraphQL);
    const { status, body } = await store.get(analyticsPath(liveStream.id));
    expect([status, body]).toEqual([200, { ...savedShow(liveStream), kpis: expect.any(Object) }]);
  });

  test("is replaced as a whole by saving it again, and keeps its events", async () => {
    const store = await createTestStore(app);
    const { id } = await saved(store);
    await recorded(store, id, [{ id: "o", type: "ORDER", channel: "LIVE", amount: 5 }]);
    const changed = { id, name: "Renamed", status: "ENDED", startedAt: "2026-01-01T00:00:00.000Z", durationSeconds: 0 };
    const answer = { ...changed, endedAt: "2026-01-01T00:00:00.000Z", host: null };
    expect(await store.graphql(saveShow, { liveStream: changed })).toEqual({ data: { saveLiveStream: answer } });
    const { data } = await store.graphql(readAnalytics, { lsId: id });
    expect(data.liveStreamAnalytics).toMatchObject({ ...answer, kpis: { sales: { live: 5, replay: 0, total: 5 } } });
  });

  test("has the host null where it is omitted, null, or removed", async () => {
    const store = await createTestStore(app);
    const { id } = await saved(store);
    const { host: _, ...hostless } = show({ id });
    for (const liveStream of [hostless, { ...hostless, host: null }]) {
      const { data } = await store.graphql(saveShow, { liveStream });
      expect(data.saveLiveStream.host).toBeNull();
      expect((await store.get(analyticsPath(id))).body).toEqual({
        ...savedShow({ id }),
        host: null,
        kpis: expect.any(Object),
      });
    }
  });

  test("may have any text as its id: REST finds it by the id, percent-encoded", async () => {
    const store = await createTestStore(app);
    for (const id of ["a/b", "100%25", "ä ö", "👗", "a+b", "x".repeat(255), "👗".repeat(255)]) {
      await saved(store, { id });
      const { status, body } = await store.get(analyticsPath(id));
      expect([status, body]).toEqual([200, { ...savedShow({ id }), kpis: expect.any(Object) }]);
    }
  });

  test("returns times in UTC with milliseconds, whatever their time zone was", async () => {
    const store = await createTestStore(app);
    const { id } = await saved(store, { startedAt: "2026-05-05T00:00:00.1239+05:30", durationSeconds: 1 });
    expect((await store.get(analyticsPath(id))).body).toMatchObject({
      startedAt: "2026-05-04T18:30:00.123Z",
      endedAt: "2026-05-04T18:30:01.123Z",
      durationSeconds: 1,
    });
  });
});

describe("a show that the store does not have", () => {
  const message = "The store has no live stream with this id.";
  const notFound = { code: "LIVE_STREAM_NOT_FOUND", message, path: ["lsId"] };

  test("is not found in either style, also by an id that no show can have", async () => {
    const store = await createTestStore(app);
    for (const id of ["unknown", "%00", "a%00b", "x".repeat(5_000)]) {
      const answer = await store.get(`/external/analytics/v1/live-streams/${id}`);
      expect(answer).toEqual(refusal("LIVE_STREAM_NOT_FOUND", message, [notFound]));
    }
    for (const [field, query] of Object.entries({ liveStream: readShow, liveStreamAnalytics: readAnalytics })) {
      const error = { ...graphqlError("LIVE_STREAM_NOT_FOUND", message, [notFound]), path: [field] };
      for (const lsId of ["unknown", "a\0b", "\ud800"]) {
        const answer = await store.graphql(query, { lsId });
        expect(answer).toEqual({ errors: [{ ...error, locations: expect.any(Array) }], data: { [field]: null } });
      }
    }
  });

  test("may be another store's: each has its own of this id", async () => {
    const [owner, other] = [await createTestStore(app), await createTestStore(app)];
    const { id } = await saved(owner);
    const { data } = await other.graphql(saveShow, { liveStream: show({ id, name: "Theirs", status: "LIVE" }) });
    expect(data.saveLiveStream).toMatchObject({ id, name: "Theirs", status: "LIVE" });
    expect((await owner.get(analyticsPath(id))).body.name).toBe("Spring collection");
  });
});
