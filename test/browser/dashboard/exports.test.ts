// @tier all
import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { setStore } from "../../../src/stores/store.js";
import { ago } from "../../support/clock.js";
import { createTestStore } from "../../support/app.js";
import { expectClean, openAppInBrowser } from "../../support/browser/browser.js";
import { followNewestShow, openDashboard } from "../../support/browser/dashboard.js";
import { order, view } from "../../support/events.js";
import { recorded, saved } from "../../support/shows.js";

const { app, browser } = await openAppInBrowser({ analyticsRateLimit: 20 });

async function exported(page: Page) {
  const downloading = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export" }).click();
  const download = await downloading;
  return { name: download.suggestedFilename(), text: await readFile(await download.path(), "utf8") };
}

test.each([
  ["de-DE", ";", "12,5"],
  ["en-US", ",", "12.5"],
] as const)("a browser of the language %s saves what is seen for its spreadsheet", async (locale, delimiter, sales) => {
  const store = await createTestStore(app);
  await setStore(app.db, store.id, { timeZone: "Europe/Berlin" });
  const startMs = Math.floor(ago(0).getTime() / 86_400_000) * 86_400_000 - 3 * 86_400_000;
  const startedAt = new Date(startMs).toISOString();
  const { id } = await saved(store, { id: "evening", name: "=1+1", startedAt, durationSeconds: 180 });
  const occurredAt = new Date(startMs + 60_000).toISOString();
  await recorded(store, id, [order("a", 12.5, { occurredAt }), view("b", { occurredAt })]);
  const opened = await openDashboard(browser, app, store, { locale });
  const { page } = opened;
  const shows = await exported(page);
  expect(shows.name).toMatch(/^shows \d{4}-\d\d-\d\d \d{4}-\d\d-\d\d\.csv$/u);
  expect(shows.text.startsWith(`\ufeffid${delimiter}name${delimiter}status`)).toBe(true);
  const row = ["evening", "'=1+1"].map((text) => `"${text}"`).join(delimiter);
  expect(shows.text).toContain(`\n${row}${delimiter}ENDED${delimiter}${startedAt}`);
  expect(shows.text).toContain(`${delimiter}${sales}${delimiter}`);

  await followNewestShow(page);
  await page.locator("canvas").nth(3).waitFor();
  const day = startedAt.slice(0, 10);
  const local = (minute: number) =>
    `${day} ${new Date(startMs + minute * 60_000).toLocaleTimeString("en-GB", { timeZone: "Europe/Berlin", hour: "2-digit", minute: "2-digit" })}`;
  expect(await exported(page)).toEqual({
    name: "evening.csv",
    text: `\ufeff${[
      ["from (Europe/Berlin)", "viewers", "added to cart", "orders", "sales"],
      [local(0), "0", "0", "0", "0"],
      [local(1), "1", "0", "1", sales],
      [local(2), "0", "0", "0", "0"],
    ]
      .map((cells) => `${cells.join(delimiter)}\n`)
      .join("")}`,
  });
  expectClean(opened);
  await opened.close();
});

test("over the rate limit, the page says so and nothing is saved", async () => {
  const store = await createTestStore(app);
  await saved(store);
  const opened = await openDashboard(browser, app, store);
  const { page } = opened;
  await page.getByRole("button", { name: "Export" }).waitFor();
  const read = () => store.fetch("/external/analytics/v1/live-streams/x/kpis");
  while ((await read()).status !== 429);
  await page.getByRole("button", { name: "Export" }).click();
  await page.locator(".problem").filter({ hasText: "Rate limit exceeded" }).waitFor();
  expectClean(opened, [/status of 429/u]);
  await opened.close();
});
