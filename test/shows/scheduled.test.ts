import { describe, expect, test } from "vitest";
import { createTestStore, openTestApp } from "../support/app.js";
import { fromNow, stopClock } from "../support/clock.js";
import { order, view } from "../support/events.js";
import { graphqlError } from "../support/problems.js";
import {
  analyticsPath,
  readShow,
  record,
  recorded,
  refusedShow,
  saved,
  savedShow,
  saveShow,
  show,
  showProblem,
} from "../support/shows.js";
import { everythingOf } from "../support/stored.js";

const app = await openTestApp({ analyticsRateLimit: 0 });

const inHours = (hours: number) => fromNow(hours * 3_600_000).toISOString();
const now = () => inHours(0);

describe("a scheduled show", () => {
  test("has neither end nor duration, given or not, and no figures", async () => {
    const store = await createTestStore(app);
    const startedAt = inHours(1);
    const { durationSeconds: _, ...planned } = show({ status: "SCHEDULED", startedAt });
    const expected = { ...savedShow(planned), startedAt, endedAt: null, durationSeconds: 0 };
    for (const liveStream of [planned, { ...planned, durationSeconds: 1_800 }]) {
      expect(await store.graphql(saveShow, { liveStream })).toEqual({
        data: { saveLiveStream: { ...expected, status: "SCHEDULED" } },
      });
    }
    const { status, body } = await store.get(analyticsPath(planned.id));
    expect([status, body]).toEqual([200, { ...expected, kpis: expect.objectContaining({ devices: [] }) }]);
  });

  test("must start in the future, and a live one must not", async () => {
    const store = await createTestStore(app);
    const refusals = [
      ["SCHEDULED", now(), "A SCHEDULED show must start in the future: save it as LIVE when it starts."],
      ["LIVE", inHours(0.01), "A LIVE show must not start in the future: save it as SCHEDULED until it starts."],
    ] as const;
    for (const [status, startedAt, message] of refusals) {
      const liveStream = show({ status, startedAt });
      expect(await store.graphql(saveShow, { liveStream })).toEqual(
        refusedShow(showProblem("startedAt", "INVALID_VALUE", message)),
      );
      expect((await store.get(analyticsPath(liveStream.id))).status).toBe(404);
    }
  });

  test.for(["LIVE", "ENDED", "ARCHIVED"])(
    "can be postponed, and becomes %s when it is saved with that status",
    async (status) => {
      const store = await createTestStore(app);
      const { id } = await saved(store, { status: "SCHEDULED", startedAt: inHours(1) });
      await saved(store, { id, status: "SCHEDULED", startedAt: inHours(48) });
      const startedAt = now();
      await saved(store, { id, status, startedAt });
      const { data } = await store.graphql(readShow, { lsId: id });
      expect(data.liveStream).toMatchObject({ status, startedAt });
    },
  );

  test.for(["LIVE", "ENDED", "ARCHIVED"])("a show that is %s cannot be scheduled again", async (status) => {
    const store = await createTestStore(app);
    const { id } = await saved(store, { status });
    const liveStream = show({ id, status: "SCHEDULED", startedAt: inHours(1) });
    const message = `A show that is ${status} cannot become SCHEDULED.`;
    expect(await store.graphql(saveShow, { liveStream })).toEqual(
      refusedShow(showProblem("status", "INVALID_VALUE", message)),
    );
  });

  test("refuses events before its start; the first one after that makes it live", async () => {
    const clock = stopClock();
    const store = await createTestStore(app);
    const message = "The show is scheduled and takes no events yet: save it as LIVE when it starts.";
    const problem = { code: "VALIDATION_FAILED", message, path: ["lsId"] };
    const error = graphqlError("VALIDATION_FAILED", message, [problem]);
    const events = [view("e1", { device: "mobile" }), order("e2", 20)];
    const { id } = await saved(store, { status: "SCHEDULED", startedAt: inHours(1) });
    const before = await everythingOf(app, store);
    for (const sent of [events, events.slice(1), []]) {
      const { errors } = await store.graphql(record, { lsId: id, events: sent });
      expect(errors).toEqual([{ ...error, path: ["recordShopperEvents"], locations: expect.any(Array) }]);
    }
    expect(await everythingOf(app, store)).toEqual(before);
    clock.pass(3_600_000);
    const results = await Promise.all([recorded(store, id, events), recorded(store, id, events)]);
    expect(results.map(({ accepted }) => accepted).toSorted((one, other) => one - other)).toEqual([0, 2]);
    const { data } = await store.graphql(readShow, { lsId: id });
    expect(data.liveStream).toMatchObject({ status: "LIVE", endedAt: null });
  });
});
