// @tier all
import { expect, test } from "vitest";
import { ago } from "../../support/clock.js";
import { createTestStore } from "../../support/app.js";
import { expectClean, openAppInBrowser } from "../../support/browser/browser.js";
import { openNewestShow } from "../../support/browser/dashboard.js";
import { order, view } from "../../support/events.js";
import { recorded, saved } from "../../support/shows.js";

const { app, browser } = await openAppInBrowser({ analyticsRateLimit: 0 });

const isDark = `getComputedStyle(document.documentElement).getPropertyValue("--text").trim() === "#eceef3"`;
/** The brightness of the labels below a chart, from 0 to 255. */
const brightness = `(() => {
  const canvas = document.querySelector(".plot canvas");
  const { data } = canvas.getContext("2d").getImageData(0, canvas.height - 20, canvas.width, 20);
  let [sum, count] = [0, 0];
  for (let at = 0; at < data.length; at += 4) if (data[at + 3] > 100) [sum, count] = [sum + data[at], count + 1];
  return count === 0 ? -1 : sum / count;
})()`;

test("prints only the figures of a show, in light colors", async () => {
  const store = await createTestStore(app);
  const startedAt = ago(600_000).toISOString();
  const { id: lsId } = await saved(store, { status: "LIVE", name: "On air", startedAt });
  await recorded(store, lsId, [order("1", 1.5), view("2"), view("3", { type: "ADD_TO_CART", productId: "mug" })]);
  const opened = await openNewestShow(browser, app, store, { colorScheme: "dark" });
  const { page } = opened;
  await page.locator("canvas").nth(3).waitFor();
  await expect.poll(() => page.evaluate(isDark)).toBe(true);
  const onScreen = (await page.evaluate(brightness)) as number;
  expect(onScreen).toBeGreaterThan(0);

  const measure = `addEventListener("beforeprint", () => (window.printed = { isDark: ${isDark}, brightness: ${brightness} }))`;
  await page.evaluate(measure);
  const pdf = await page.pdf({ format: "A4" });
  expect(pdf.subarray(0, 5).toString()).toBe("%PDF-");
  expect(pdf.toString("latin1").match(/\/Type \/Page\b/gu)?.length).toBeLessThanOrEqual(2);
  expect(await page.evaluate("window.printed.isDark")).toBe(false);
  expect(await page.evaluate("window.printed.brightness")).toBeLessThan(onScreen);
  await expect.poll(() => page.evaluate(isDark)).toBe(true); // the screen is dark again

  await page.emulateMedia({ media: "print", colorScheme: "light" });
  await page.setViewportSize({ width: 718, height: 1_040 }); // A4 with Chromium's margins
  await page.evaluate("dispatchEvent(new Event('beforeprint'))");
  for (const hidden of [page.getByRole("navigation"), page.getByText("Sign out"), page.getByText("Show as a table")]) {
    await expect.poll(() => hidden.isVisible()).toBe(false);
  }
  for (const shown of ["On air", "Sales", "Top products", "Devices"]) {
    await expect
      .poll(() => page.getByRole("heading", { name: shown }).first().isVisible(), { message: shown })
      .toBe(true);
  }
  await expect.poll(() => page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
  await opened.screenshot("dashboard.print");
  expectClean(opened);
  await opened.close();
});
