// @tier all
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { setStore } from "../../../src/stores/store.js";
import { ago } from "../../support/clock.js";
import { createTestStore, type TestStore } from "../../support/app.js";
import { expectAccessible, expectClean, openAppInBrowser, phone } from "../../support/browser/browser.js";
import { followNewestShow, openDashboard } from "../../support/browser/dashboard.js";
import { order, view } from "../../support/events.js";
import { importMany, product } from "../../support/products.js";
import { recorded, saved } from "../../support/shows.js";

const { app, browser } = await openAppInBrowser({ analyticsRateLimit: 0 });
const featured_image = "http://shop.example/picture.jpg"; // pages load none over HTTP
const arabic = "عرض الخريف الجديد من المجموعة الكاملة للملابس الشتوية والأحذية والحقائب";
const hebrew = "קולקציית הסתיו החדשה של החנות עם כל הנעליים והתיקים והצעיפים של העונה";

let store: TestStore;
beforeAll(async () => {
  store = await createTestStore(app);
  await setStore(app.db, store.id, { currency: "EUR" });
  await store.graphql(importMany, {
    products: [product("a", { title: arabic, featured_image }), product("b", { title: hebrew, featured_image })],
  });
  const startMs = ago(86_400_000).getTime();
  const startedAt = new Date(startMs).toISOString();
  const at = (minute: number) => ({ occurredAt: new Date(startMs + minute * 60_000).toISOString() });
  for (const [id, name] of [
    ["arabic", arabic],
    ["hebrew", hebrew],
    ["latin", "Autumn looks"],
  ] as const) {
    await saved(store, { id, name, startedAt, durationSeconds: 600 });
    await recorded(store, id, [
      view("v", { ...at(1), device: "tv" }),
      view("c", { ...at(2), type: "ADD_TO_CART", productId: "a" }),
      order("o", 1_234_567.5, { ...at(3), productId: "b" }),
      { ...order("r", 10, { ...at(4), productId: "b" }), type: "REFUND" },
    ]);
  }
});

/** Cells with a figure that reach beyond the screen, or that are cut off. */
const hiddenFigures = (page: Page): Promise<unknown> =>
  page.evaluate(`[...document.querySelectorAll("tbody td")]
    .filter((cell) => cell.checkVisibility() && cell.textContent !== "")
    .filter((cell) => {
      const { left, right } = cell.getBoundingClientRect();
      return left < 0 || right > innerWidth || cell.scrollWidth > cell.clientWidth + 1;
    })
    .map((cell) => cell.textContent)`);

/** Names whose first letter is not within what clips them. */
const namesWithoutBeginning = (page: Page): Promise<unknown> =>
  page.evaluate(`[...document.querySelectorAll(".name, .show-name")].filter((name) => {
    if (!name.checkVisibility() || name.textContent.trim() === "") return false;
    const range = document.createRange();
    const text = document.createTreeWalker(name, NodeFilter.SHOW_TEXT).nextNode();
    range.setStart(text, 0);
    range.setEnd(text, 1);
    const [letter, box] = [range.getBoundingClientRect(), name.getBoundingClientRect()];
    return letter.left < box.left - 1 || letter.right > box.right + 1;
  }).map((name) => name.textContent)`);

test("on a phone each row of each table shows its figures without scrolling, and names begin at their beginning", async () => {
  const opened = await openDashboard(browser, app, store, phone);
  const { page } = opened;
  await page.getByRole("region", { name: "Products", exact: true }).waitFor();
  await page.getByRole("region", { name: "Shows", exact: true }).waitFor();
  await page.getByText("Show as a table").click();
  const row = page.getByRole("row").filter({ hasText: "Autumn looks" });
  const text = (await row.innerText()).replaceAll(/\s+/gu, " ");
  expect(text).toContain("€1,234,567.50");
  await expect.poll(() => hiddenFigures(page)).toEqual([]);
  await expect.poll(() => namesWithoutBeginning(page)).toEqual([]);
  await expectAccessible(opened);
  for (const part of ["Shows", "Products"]) {
    await page.getByRole("region", { name: part, exact: true }).evaluate((element: any) => element.scrollIntoView());
    await opened.screenshot(`phone.${part.toLowerCase()}`);
  }
  await page.getByRole("region", { name: "Shows", exact: true }).getByRole("button", { name: "Sales" }).click();
  await expect.poll(() => new URL(page.url()).search).toBe("?order=sales");

  await page.goto(`${app.url}/dashboard?compare=arabic&compare=latin`);
  await page.getByRole("region", { name: "Key figures of both shows" }).waitFor();
  await expect.poll(() => hiddenFigures(page)).toEqual([]);
  await opened.screenshot("phone.comparison");

  await followNewestShow(page);
  await page.locator("canvas").nth(3).waitFor();
  await page.getByText("Show as a table").click();
  await page.getByRole("rowheader", { name: "TV", exact: true }).waitFor();
  await expect.poll(() => hiddenFigures(page)).toEqual([]);
  await expect.poll(() => namesWithoutBeginning(page)).toEqual([]);
  await page.getByRole("region", { name: "Timeline as a table" }).evaluate((element: any) => element.scrollIntoView());
  await opened.screenshot("phone.timeline");
  expectClean(opened);
  await opened.close();
});

test("on a desktop names that are written from right to left are clipped at their end", async () => {
  const opened = await openDashboard(browser, app, store);
  const { page } = opened;
  await page.getByRole("region", { name: "Products", exact: true }).waitFor();
  await page.getByRole("region", { name: "Shows", exact: true }).waitFor();
  await expect.poll(() => namesWithoutBeginning(page)).toEqual([]);
  await page.getByRole("region", { name: "Shows", exact: true }).evaluate((element: any) => element.scrollIntoView());
  await opened.screenshot("desktop.names");
  expectClean(opened);
  await opened.close();
});
