// @engine both
import { describe, expect, test } from "vitest";
import { createTestStore, openTestApp } from "../support/app.js";
import { ago, fromNow, stopClock } from "../support/clock.js";
import {
  analyticsPath,
  readAnalytics,
  readShow,
  refusedShow,
  saved,
  savedShow,
  saveShow,
  show,
  showProblem,
} from "../support/shows.js";

const app = await openTestApp({ analyticsRateLimit: 0 });

const statuses = ["LIVE", "ENDED", "ARCHIVED"] as const;

describe("status", () => {
  /** Saves a show in one status, then in the other. */
  async function step(from: string, to: string) {
    const store = await createTestStore(app);
    const { id } = await saved(store, { status: from });
    const answer = await store.graphql(saveShow, { liveStream: show({ id, status: to, name: "Changed" }) });
    const { data } = await store.graphql(readShow, { lsId: id });
    return { answer, after: data.liveStream };
  }

  test.for([
    "ENDED LIVE",
    "LIVE ENDED",
    "LIVE ARCHIVED",
    "ENDED ARCHIVED",
    ...statuses.map((same) => `${same} ${same}`),
  ])("the transition %s is allowed", async (pair) => {
    const [from = "", to = ""] = pair.split(" ");
    const { answer, after } = await step(from, to);
    const grows = to === "LIVE" && { durationSeconds: expect.any(Number) };
    expect(answer).toEqual({ data: { saveLiveStream: { ...after, ...grows } } });
    expect(after).toMatchObject({ status: to, name: "Changed" });
  });

  test.for(["ARCHIVED LIVE", "ARCHIVED ENDED"])(
    "the transition %s is refused, and the show is unchanged",
    async (pair) => {
      const [from = "", to = ""] = pair.split(" ");
      const { answer, after } = await step(from, to);
      const message = `A show that is ${from} cannot become ${to}.`;
      expect(answer).toEqual(refusedShow(showProblem("status", "INVALID_VALUE", message)));
      expect(after).toMatchObject({ status: from, name: "Spring collection" });
    },
  );

  test("never goes back under concurrent saves of a new show", async () => {
    const store = await createTestStore(app);
    for (let round = 0; round < 4; round += 1) {
      const id = `show-${round}`;
      const steps = ["ARCHIVED", "LIVE", "ENDED", "LIVE", "ARCHIVED", "ENDED"];
      const save = (status: string) => store.graphql(saveShow, { liveStream: show({ id, status }) });
      const answers = await Promise.all(steps.map(save));
      for (const { errors } of answers) {
        if (errors !== undefined) expect(errors).toMatchObject([{ extensions: { code: "VALIDATION_FAILED" } }]);
      }
      const { data } = await store.graphql(readShow, { lsId: id });
      expect(data.liveStream.status).toBe("ARCHIVED");
    }
  });
});

describe("duration", () => {
  test("of a live show is the whole seconds since its start, and it has no end", async () => {
    const store = await createTestStore(app);
    stopClock();
    const startedAt = ago(90_500).toISOString();
    const { id } = await saved(store, { status: "LIVE", startedAt });
    for (const read of [
      async () => (await store.get(analyticsPath(id))).body,
      async () => (await store.graphql(readAnalytics, { lsId: id })).data.liveStreamAnalytics,
      async () => (await store.graphql(readShow, { lsId: id })).data.liveStream,
    ]) {
      expect(await read()).toMatchObject({ durationSeconds: 90, endedAt: null });
    }
  });

  test("of a live show ignores the given value; before the start, by a clock that is ahead, it is 0", async () => {
    const store = await createTestStore(app);
    stopClock();
    const startedAt = fromNow(9_000).toISOString();
    const { id } = await saved(store, { status: "LIVE", startedAt, durationSeconds: 99 });
    const { body } = await store.get(analyticsPath(id));
    expect(body).toEqual({
      ...savedShow({ id }),
      startedAt,
      endedAt: null,
      durationSeconds: 0,
      kpis: expect.anything(),
    });
  });

  test("of a live show that started long ago is the maximum of GraphQL's Int", async () => {
    const store = await createTestStore(app);
    const { id } = await saved(store, { status: "LIVE", startedAt: "1900-01-01T00:00:00.000Z" });
    const { status, body } = await store.get(analyticsPath(id));
    expect([status, body.durationSeconds]).toEqual([200, 2_147_483_647]);
  });

  test.for(["ENDED", "ARCHIVED"])("of an %s show is required: omitting it or null is refused", async (status) => {
    const store = await createTestStore(app);
    const { durationSeconds: _, ...withoutDuration } = show({ status });
    const required = showProblem(
      "durationSeconds",
      "REQUIRED",
      "durationSeconds is required unless the show is scheduled or live.",
    );
    for (const liveStream of [withoutDuration, { ...withoutDuration, durationSeconds: null }]) {
      expect(await store.graphql(saveShow, { liveStream })).toEqual(refusedShow(required));
    }
    expect((await store.get(analyticsPath(withoutDuration.id))).status).toBe(404);
  });

  test.for(["ENDED", "ARCHIVED"])("of an %s show gives its end: start plus duration", async (status) => {
    const store = await createTestStore(app);
    for (const [durationSeconds, endedAt] of [
      [0, "2026-05-04T18:30:00.000Z"],
      [86_399, "2026-05-05T18:29:59.000Z"],
      [366 * 86_400, "2027-05-05T18:30:00.000Z"],
    ] as const) {
      const { id } = await saved(store, { status, durationSeconds });
      expect((await store.get(analyticsPath(id))).body).toMatchObject({ durationSeconds, endedAt });
    }
  });

  test("of a live show is fixed when the show ends", async () => {
    const store = await createTestStore(app);
    const { id } = await saved(store, { status: "LIVE" });
    expect((await store.get(analyticsPath(id))).body.endedAt).toBeNull();
    await saved(store, { id, durationSeconds: 10 });
    expect((await store.get(analyticsPath(id))).body).toMatchObject({
      durationSeconds: 10,
      endedAt: "2026-05-04T18:30:10.000Z",
    });
  });
});
