// @tier all
import { expect, test } from "vitest";
import { issueToken } from "../../../src/stores/token.js";
import { ago, fromNow } from "../../support/clock.js";
import { createTestStore } from "../../support/app.js";
import { expectAccessible, expectClean, openAppInBrowser } from "../../support/browser/browser.js";
import { openNewestShow } from "../../support/browser/dashboard.js";
import { order, view } from "../../support/events.js";
import { recorded, saved } from "../../support/shows.js";

const { app, browser } = await openAppInBrowser({ analyticsRateLimit: 0 });

const host = { name: "Alex Meyer", email: "alex@shop.example" };
const savedShow = (lsId: string) =>
  `{ liveStream(lsId: "${lsId}") { name status startedAt durationSeconds host { name email } } }`;

test("a scheduled show is started and ended, each after a question, and keeps all else", async () => {
  const store = await createTestStore(app);
  const planned = fromNow(3_600_000).toISOString();
  const { id } = await saved(store, { name: "عرض الخريف", status: "SCHEDULED", startedAt: planned, host });
  const opened = await openNewestShow(browser, app, store);
  const { page } = opened;
  const show = async () => (await store.graphql(savedShow(id))).data.liveStream;
  const dialog = page.getByRole("dialog");

  await page.getByRole("button", { name: "Start show" }).click();
  await page.getByRole("dialog", { name: "Start عرض الخريف?" }).waitFor();
  await expectAccessible(opened);
  await opened.screenshot("dashboard.start");
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await dialog.waitFor({ state: "detached" });
  expect(await show()).toMatchObject({ status: "SCHEDULED", startedAt: planned });

  await page.getByRole("button", { name: "Start show" }).click();
  await dialog.getByRole("button", { name: "Start now" }).click();
  await page.getByRole("heading", { level: 1, name: "عرض الخريف Live" }).waitFor();
  await dialog.waitFor({ state: "detached" });
  const live = await show();
  expect(live).toMatchObject({ status: "LIVE", name: "عرض الخريف", host });
  expect(Date.parse(live.startedAt)).toBeGreaterThan(ago(60_000).getTime());

  await page.getByRole("button", { name: "End show" }).click();
  await dialog.getByRole("button", { name: "End now" }).click();
  await page.getByRole("heading", { level: 1, name: "عرض الخريف Ended" }).waitFor();
  await dialog.waitFor({ state: "detached" });
  await expect.poll(() => page.getByRole("button", { name: /^(?:Start|End) show$/u }).count()).toBe(0);
  const ended = await show();
  expect(ended).toMatchObject({ status: "ENDED", startedAt: live.startedAt, host });
  expect(ended.durationSeconds).toBeLessThan(60);
  expectClean(opened);
  await opened.close();
});

test("a show that somebody else has ended meanwhile stays as they saved it", async () => {
  const store = await createTestStore(app);
  const startedAt = ago(600_000).toISOString();
  const { id } = await saved(store, { status: "LIVE", startedAt });
  const opened = await openNewestShow(browser, app, store);
  await opened.page.getByRole("button", { name: "End show" }).click();
  await saved(store, { id, status: "ENDED", startedAt, durationSeconds: 42 });
  await opened.page.getByRole("button", { name: "End now" }).click();
  await opened.page.getByRole("dialog").waitFor({ state: "detached" });
  expect((await store.graphql(savedShow(id))).data.liveStream.durationSeconds).toBe(42);
  expectClean(opened);
  await opened.close();
});

test("without shows:write there is no button, and what came before the start is said", async () => {
  const store = await createTestStore(app);
  const startMs = Math.floor(ago(0).getTime() / 60_000) * 60_000 - 570_000; // half a minute after a full one
  const at = (minutes: number) => ({ occurredAt: new Date(startMs + minutes * 60_000).toISOString() });
  const { id } = await saved(store, { status: "LIVE", startedAt: new Date(startMs).toISOString() });
  await recorded(store, id, [view("a", at(2)), view("b", at(0.1))]);
  const opened = await openNewestShow(browser, app, await issueToken(app.db, store.id, { scopes: ["analytics:read"] }));
  const { page } = opened;
  await page.getByRole("heading", { level: 3, name: "Viewers" }).first().waitFor();
  await expect.poll(() => page.getByText("Before the start").count()).toBe(0);
  await recorded(store, id, [
    ...["v1", "v2", "v3"].map((viewerId) => view(`early ${viewerId}`, { viewerId, ...at(-2) })),
    view("cart", { type: "ADD_TO_CART", productId: "mug", ...at(-1) }),
    order("order", 10, at(-3)),
  ]);
  await page.getByText("Before the start: most viewers at once 3, added to cart 1, orders 1.").waitFor();
  await expect.poll(() => page.getByRole("button", { name: "End show" }).count()).toBe(0);
  await opened.screenshot("dashboard.before");
  expectClean(opened);
  await opened.close();
});
