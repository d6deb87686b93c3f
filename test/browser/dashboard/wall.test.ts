// @tier all
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { setStore } from "../../../src/stores/store.js";
import { ago, fromNow } from "../../support/clock.js";
import { createTestStore, type TestStore } from "../../support/app.js";
import { expectAccessible, expectClean, openAppInBrowser } from "../../support/browser/browser.js";
import { order, view } from "../../support/events.js";
import { importMany, product } from "../../support/products.js";
import { recorded, saved } from "../../support/shows.js";

const { app, browser } = await openAppInBrowser({ analyticsRateLimit: 0 });
const screen = {
  viewport: { width: 1920, height: 1080 },
  colorScheme: "light",
  locale: "en-US",
  timezoneId: "UTC",
} as const;

const featured_image = "http://shop.example/picture.jpg"; // pages load none over HTTP

let store: TestStore;
beforeAll(async () => {
  store = await createTestStore(app);
  await setStore(app.db, store.id, { currency: "EUR" });
  const titles = [
    "Linen shirt",
    "قميص كتان ".repeat(9),
    "A coat of a long name ".repeat(4),
    "Hat",
    "Bag",
    "Belt",
    "Scarf",
  ];
  await store.graphql(importMany, {
    products: titles.map((title, index) => product(`p${index}`, { title, featured_image })),
  });
  const startedAt = ago(2_400_000).toISOString();
  await saved(store, { id: "old", name: "Yesterday", status: "ENDED", startedAt: "2026-05-04T18:30:00Z" });
  const { id } = await saved(store, { id: "now", name: "Autumn looks", status: "LIVE", startedAt });
  const at = (index: number) => ({
    occurredAt: new Date(Date.parse(startedAt) + (index % 40) * 60_000).toISOString(),
    viewerId: `v${index % 170}`,
  });
  const events = Array.from({ length: 400 }, (_, index) => {
    if (index % 7 === 0) return order(`${index}`, (index % 50) * 1_234.5, at(index * 3));
    if (index % 5 === 0) return view(`${index}`, { ...at(index), type: "ADD_TO_CART", productId: `p${index % 9}` });
    return view(`${index}`, at(index));
  });
  await recorded(store, id, events);
});

const open = (query: string, { token } = store, options: object = {}) =>
  browser.open(`${app.url}/dashboard?${query}#token=${token}`, { ...screen, ...options });

const overflow = (page: Page) =>
  page.evaluate(
    "[document.documentElement.scrollWidth - innerWidth, document.documentElement.scrollHeight - innerHeight]",
  );

test.each([
  [1920, 1080],
  [1280, 720],
  [3840, 2160],
])(
  "?wall fills a screen of %i × %i with the running show: dark, large, and nothing to click",
  async (width, height) => {
    const opened = await open("wall", store, { viewport: { width, height } });
    const { page } = opened;
    await page.getByRole("heading", { level: 1, name: "Autumn looks Live" }).waitFor();
    await page.locator("canvas").nth(1).waitFor();
    await opened.screenshot(`dashboard.wall.${width}`);
    await expect.poll(() => overflow(page)).toEqual([0, 0]);
    await expect.poll(() => page.locator("button, input, select, a, summary").count()).toBe(0);
    await expect.poll(() => page.evaluate("getComputedStyle(document.body).backgroundColor")).toBe("rgb(15, 17, 22)");
    const size = "Number.parseFloat(getComputedStyle(document.querySelector('.value')).fontSize) / innerHeight";
    expect(Number(await page.evaluate(size)), "a figure's part of the height").toBeGreaterThan(0.05);
    const cut = `[...document.querySelectorAll(".value, .tile h2, figcaption")].filter((e) => e.scrollWidth > e.clientWidth).length`;
    await expect.poll(() => page.evaluate(cut), { message: "figures that are cut off" }).toBe(0);
    const bottom = `Math.max(...[...document.querySelectorAll(".wall tr, .wall canvas")].map((e) => e.getBoundingClientRect().bottom)) <= innerHeight`;
    await expect.poll(() => page.evaluate(bottom)).toBe(true);
    if (width === 1920) await expectAccessible(opened);
    expectClean(opened);
    await opened.close();
  },
);

test("?wall&show= has a show of one's own choice, and a new figure arrives", async () => {
  const opened = await open("wall&show=old");
  const { page } = opened;
  await page.getByRole("heading", { level: 1, name: "Yesterday Ended" }).waitFor();
  const sales = page.getByRole("article").filter({ hasText: "Sales" });
  await expect.poll(() => sales.innerText()).toContain("€0.00");
  await recorded(store, "old", [order("late", 12.5, { occurredAt: "2026-05-04T18:31:00Z" })]);
  await sales.getByText("€12.50").waitFor();
  await expect.poll(() => new URL(page.url()).search).toBe("?wall&show=old");
  await opened.screenshot("dashboard.wall.ended");
  expectClean(opened);
  await opened.close();
});

test("without a show that runs it has the latest, then the next; without any it says so", async () => {
  const own = await createTestStore(app);
  const empty = await open("wall", own);
  await empty.page.getByText("No shows yet").waitFor();
  const startedAt = fromNow(3_600_000).toISOString();
  await saved(own, { name: "Tomorrow", status: "SCHEDULED", startedAt });
  await empty.page.reload();
  await empty.page.getByRole("heading", { level: 1, name: "Tomorrow Scheduled" }).waitFor();
  await empty.screenshot("dashboard.wall.scheduled");
  expectClean(empty);
  await empty.close();
});
