import { expect, test } from "vitest";
import { createTestStore, openTestApp } from "../../support/app.js";
import { view } from "../../support/events.js";
import { readAnalytics, recorded, saved } from "../../support/shows.js";

const app = await openTestApp({ analyticsRateLimit: 0 });

test("the first 1,000 devices of each channel are counted by name; further ones as `other`, like a device of that name", async () => {
  const store = await createTestStore(app);
  const { id: lsId } = await saved(store, { status: "LIVE" });
  const name = (index: number) => `device-${String(index).padStart(4, "0")}`;
  const on = (channel: "LIVE" | "REPLAY", viewer: string, device: string) =>
    view(`${channel} ${viewer}`, { channel, viewerId: viewer, device });
  await recorded(store, lsId, [
    on("LIVE", "o1", "other"),
    ...Array.from({ length: 1_003 }, (_, index) => on("LIVE", `v${index}`, name(index))),
    on("LIVE", "again", name(999)),
    on("REPLAY", "r1", name(1_002)),
    on("REPLAY", "r2", name(1_002)),
    on("REPLAY", "r3", name(1_001)),
  ]);
  await recorded(store, lsId, [on("LIVE", "late", "late"), on("LIVE", "v0", "late"), on("REPLAY", "r4", "late")]);
  const { data } = await store.graphql(readAnalytics, { lsId });
  const { kpis, devicesByChannel } = data.liveStreamAnalytics;
  const names = (list: { device: string }[]) => list.map(({ device }) => device);
  const [live, replay] = devicesByChannel;
  const kept = Array.from({ length: 999 }, (_, index) => name(index));
  expect(names(live.devices)).toEqual(["other", name(999), ...kept]);
  const share = (viewers: number, of: number) => Math.round((viewers * 10_000) / of) / 100;
  expect(live.devices.slice(0, 3)).toEqual([
    { device: "other", value: share(1 + 3 + 1, 1_006) },
    { device: name(999), value: share(2, 1_006) },
    { device: name(0), value: share(1, 1_006) },
  ]);
  expect(replay.devices).toEqual([
    { device: name(1_002), value: 50 },
    { device: name(1_001), value: 25 },
    { device: "late", value: 25 },
  ]);
  expect(kpis.devices.slice(0, 3)).toEqual([
    { device: "other", value: share(5, 1_010) },
    { device: name(999), value: share(2, 1_010) },
    { device: name(1_002), value: share(2, 1_010) },
  ]);
  expect(kpis.viewers).toMatchObject({ live: 1_006, replay: 4, total: 1_010 });
});
