// @engine postgresql
import { expect, test } from "vitest";
import { issueKey } from "../../../src/stores/publicKey.js";
import { withShowLock } from "../../../src/database/showLock.js";
import { openTestApp } from "../../support/app.js";
import { call } from "../../support/call.js";
import { storedEvents, storeWithShow } from "../../support/events.js";
import { saved } from "../../support/shows.js";

// The embedded engine has one session, which a transaction that waits would hold.

const app = await openTestApp({ analyticsRateLimit: 0, collectRateLimit: 0 });

test("requests for several shows of one store do not wait for a show that is locked", async () => {
  const { store, lsId: first } = await storeWithShow(app);
  const shows = [first, "second", "third"];
  for (const id of shows.slice(1)) await saved(store, { id });
  const { key } = await issueKey(app.db, store.id, { origins: ["https://shop.example"] });
  const collect = async (show: string, id: string) => {
    const events = [{ id, type: "VIEW", seconds: 1 }];
    const body = JSON.stringify({ key, show, channel: "LIVE", viewer: "v", events });
    return (await call(`${app.url}/collect/v1`, { method: "POST", headers: { "content-type": "text/plain" }, body }))
      .status;
  };
  for (const show of shows) expect(await collect(show, "first")).toBe(202);
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  let isLocked = (): void => undefined;
  const whenLocked = new Promise<void>((resolve) => (isLocked = resolve));
  const work = withShowLock(app.db, { storeId: store.id, lsId: "second", timeoutMs: 60_000 }, async () => {
    isLocked();
    await held;
  });
  await whenLocked;
  const answered: string[] = [];
  const sent = Array.from({ length: 30 }, async (_, index) => {
    const show = shows[index % 3] ?? "";
    answered.push(`${show} ${await collect(show, `e${index}`)}`);
  });
  await expect.poll(() => answered).toHaveLength(20);
  expect(new Set(answered)).toEqual(new Set([`${first} 202`, "third 202"]));
  release();
  await Promise.all([work, ...sent]);
  expect(answered.filter((one) => one === "second 202")).toHaveLength(10);
  expect(await storedEvents(app, store)).toBe(33);
});
