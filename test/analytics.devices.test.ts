import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestStore, startApp, type TestApp } from "./support/app.js";
import { view } from "./support/events.js";
import { readAnalytics, recorded, saved } from "./support/shows.js";

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ analyticsRateLimit: 0 });
});
afterAll(() => app.close());

test("of a show's devices the 1,000 largest are told apart; the rest are `other`, with a device of that name", async () => {
  const store = await createTestStore(app);
  const { id: lsId } = await saved(store, { status: "LIVE" });
  const name = (index: number) => `device-${String(index).padStart(4, "0")}`;
  const on = (channel: "LIVE" | "REPLAY", viewer: string, device: string) =>
    view(`${channel} ${viewer}`, { channel, viewerId: viewer, device });
  await recorded(store, lsId, [
    ...Array.from({ length: 1_003 }, (_, index) => on("LIVE", `v${index}`, name(index))),
    on("LIVE", "o1", "other"),
    on("LIVE", "o2", "other"),
    // Small on each channel, the largest on both together.
    on("REPLAY", "r1", name(1_002)),
    on("REPLAY", "r2", name(1_002)),
    on("REPLAY", "r3", name(1_001)),
    on("REPLAY", "r4", "only in replay"),
  ]);
  const { data } = await store.graphql(readAnalytics, { lsId });
  const { kpis, devicesByChannel } = data.liveStreamAnalytics;
  const names = (list: { device: string }[]) => list.map(({ device }) => device);
  // Of 1,005 names: three with more than one viewer, and of those with one the first by name; 5 names are the rest.
  const kept = Array.from({ length: 997 }, (_, index) => name(index));
  expect(names(kpis.devices)).toEqual(["other", name(1_002), name(1_001), ...kept]);
  const all = 1_009;
  const share = (viewers: number, of = all) => Math.round((viewers * 10_000) / of) / 100;
  expect(kpis.devices.slice(0, 4)).toEqual([
    { device: "other", value: share(2 + 5) },
    { device: name(1_002), value: share(3) },
    { device: name(1_001), value: share(2) },
    { device: name(0), value: share(1) },
  ]);
  const [live, replay] = devicesByChannel;
  expect(names(live.devices)).toEqual(["other", ...kept, name(1_001), name(1_002)]);
  expect(replay.devices).toEqual([
    { device: name(1_002), value: 50 },
    { device: name(1_001), value: 25 },
    { device: "other", value: 25 },
  ]);
  expect(kpis.viewers).toMatchObject({ live: 1_005, replay: 4, total: all });
});
