// @tier all
import { beforeAll, describe, expect, test } from "vitest";
import { createTestStore, type TestStore } from "../../support/app.js";
import { expectAccessible, expectClean, openAppInBrowser, phone } from "../../support/browser/browser.js";
import { openNewestShow } from "../../support/browser/dashboard.js";
import { order, view } from "../../support/events.js";
import { importOne, product } from "../../support/products.js";
import { recorded, saved } from "../../support/shows.js";

let store: TestStore;
const names = { show: "عرض الخريف (جديد)", host: "ليلى أحمد", product: "قميص كتان 100%" };
const { app, browser } = await openAppInBrowser({ analyticsRateLimit: 0 });
beforeAll(async () => {
  store = await createTestStore(app);
  const startedAt = "2026-05-04T18:30:00.000Z";
  const host = { name: names.host, email: "host@shop.example" };
  await store.graphql(importOne, {
    product: product("shirt", { title: names.product, featured_image: "http://shop.example/shirt.jpg" }),
  });
  const { id } = await saved(store, { name: names.show, startedAt, durationSeconds: 4_000, host });
  await saved(store, { name: `${names.show} `.repeat(8).trim(), startedAt: "2026-05-03T18:30:00.000Z" });
  const occurredAt = "2026-05-04T18:31:00.000Z";
  await recorded(store, id, [
    order("1", 1_234_567.5, { occurredAt }),
    view("2", { occurredAt, seconds: 7.5 }),
    view("3", { occurredAt, type: "ADD_TO_CART", productId: "shirt" }),
  ]);
});

describe.each([
  ["ar-EG", "4 May 2026, 18:30 UTC", "18:31 UTC"],
  ["en-US", "May 4, 2026, 6:30 PM UTC", "6:31 PM UTC"],
])("in a browser of the language %s", (locale, startedAt, at) => {
  test("words, numbers and dates are English", async () => {
    const opened = await openNewestShow(browser, app, store, { locale });
    const { page } = opened;
    await page.getByRole("heading", { level: 1, name: names.show }).waitFor();
    await expect.poll(() => page.evaluate("document.documentElement.lang")).toBe("en");
    await expect.poll(() => page.locator(".show-header time").innerText()).toBe(startedAt);
    const tile = (name: string) => page.getByRole("article").filter({ hasText: name });
    await expect.poll(() => tile("Sales").innerText()).toContain("1,234,567.50");
    await expect.poll(() => tile("View time").innerText()).toContain("7.5 sec");
    await page.getByText("Show as a table").click();
    await page.getByRole("rowheader", { name: at }).waitFor();
    await page.getByText("Show as a table").click();
    await page.locator("canvas").nth(3).waitFor();
    await opened.screenshot(`dashboard.${locale}`);
    expectClean(opened);
    await opened.close();
  });
});

test.each([
  ["desktop", {}],
  ["phone", phone],
])("right-to-left names do not reorder the words around them, on a %s", async (device, options) => {
  const opened = await openNewestShow(browser, app, store, options);
  const { page } = opened;
  await page.getByRole("heading", { level: 1, name: `${names.show} Ended` }).waitFor();
  for (const name of [names.show, names.host, names.product]) {
    await expect
      .poll(() => page.locator("main").getByText(name, { exact: true }).getAttribute("dir"), { message: name })
      .toBe("auto");
  }
  const listed = page.locator(".show-name");
  await expect.poll(() => listed.first().getAttribute("dir")).toBe("auto");
  await expectAccessible(opened);
  await page.getByRole("heading", { name: "Top products" }).scrollIntoViewIfNeeded();
  await opened.screenshot(`dashboard.arabic.${device}`);
  expectClean(opened);
  await opened.close();
});
