// @tier all
import { beforeAll, describe, expect, test } from "vitest";
import { ago } from "../../support/clock.js";
import { createTestStore, type TestStore } from "../../support/app.js";
import {
  expectAccessibleAs,
  expectClean,
  openAppInBrowser,
  screens,
  setLook,
  type TestPage,
} from "../../support/browser/browser.js";
import { followNewestShow, openDashboard, openSignIn } from "../../support/browser/dashboard.js";
import { order, view } from "../../support/events.js";
import { recorded, saved } from "../../support/shows.js";
import { ofDay } from "../../support/run/tier.js";

let store: TestStore;
const { app, browser } = await openAppInBrowser({ analyticsRateLimit: 0 });
beforeAll(async () => {
  store = await createTestStore(app);
  const startedAt = ago(2_400_000).toISOString();
  const { id } = await saved(store, { name: "Autumn looks", status: "LIVE", startedAt });
  await saved(store, {
    name: `A show of a long name ${"and more ".repeat(20)}`,
    startedAt: "2026-05-04T18:30:00.000Z",
  });
  await saved(store, { name: "Archived long ago", status: "ARCHIVED", startedAt: "2025-05-04T18:30:00.000Z" });
  const occurred = (index: number) => new Date(Date.parse(startedAt) + (index % 40) * 60_000).toISOString();
  await recorded(
    store,
    id,
    Array.from({ length: 400 }, (_, index) => {
      const common = { viewerId: `v${index % 170}`, occurredAt: occurred(index * 7), device: `device-${index % 9}` };
      if (index % 7 === 0) return order(`${index}`, (index % 50) * 1_234.5, { occurredAt: occurred(index * 3) });
      if (index % 5 === 0)
        return view(`${index}`, { ...common, type: "ADD_TO_CART", productId: `product-${index % 12}` });
      return view(`${index}`, common);
    }),
  );
});

describe.each(ofDay(screens, 2))("on a %s", (_, options, looks) => {
  let opened: TestPage; // one for all looks
  beforeAll(async () => {
    opened = await openDashboard(browser, app, store, options);
    return () => opened.close();
  });

  test.each(looks)(
    "the dashboard has no accessibility violations, and nothing is wider than the screen: %s",
    async (look) => {
      const { page } = opened;
      const fits = () => page.evaluate("document.documentElement.scrollWidth <= innerWidth");
      await setLook(page, look);
      await followNewestShow(page);
      await page.getByRole("heading", { level: 1, name: "Autumn looks Live" }).waitFor();
      await page.locator("canvas").nth(3).waitFor();
      await expect.poll(fits).toBe(true);
      await page.getByText("Show as a table").click();
      await expect.poll(fits).toBe(true);
      await expectAccessibleAs(look, opened);
      await page.getByText("Show as a table").click();
      await page.evaluate("scrollTo(0, 0)");
      await opened.screenshot(`dashboard.${look}`);
      const toggle = page.getByRole("button", { name: "Shows" });
      if (await toggle.isVisible()) {
        await expect.poll(() => page.getByRole("navigation").isVisible()).toBe(false);
        await toggle.click();
        await page.getByRole("navigation").waitFor();
        await expectAccessibleAs(look, opened);
        await opened.screenshot(`dashboard.${look}.list`);
      }
      await page.getByRole("link", { name: /^A show of a long name/u }).click();
      await page.getByRole("heading", { level: 1, name: /^A show of a long name/u }).waitFor();
      await expect.poll(fits).toBe(true);
      await opened.screenshot(`dashboard.${look}.empty`);
      await expectAccessibleAs(look, opened);
      expectClean(opened);
    },
  );

  test("the sign-in has no accessibility violations", async () => {
    const signIn = await openSignIn(browser, app, options);
    for (const look of looks) {
      await setLook(signIn.page, look);
      await signIn.page.getByRole("button", { name: "Open dashboard" }).click();
      await signIn.page.getByRole("alert").filter({ hasText: "Enter" }).waitFor();
      await expect.poll(() => signIn.page.getByLabel("Access token").getAttribute("aria-invalid")).toBe("true");
      await expectAccessibleAs(look, signIn);
      await signIn.screenshot(`dashboard.${look}.token`);
    }
    expectClean(signIn);
    await signIn.close();
  });
});

test("everything can be done with the keyboard alone", async () => {
  const opened = await openSignIn(browser, app);
  const { page } = opened;
  const focused = () => page.evaluate("document.activeElement.innerText || document.activeElement.value");
  await page.getByLabel("Access token").waitFor();
  await page.keyboard.type(store.token); // it has the focus
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  await page.keyboard.press("Tab");
  await expect.poll(() => focused()).toBe("Skip to the figures");
  await page.keyboard.press("Tab");
  await expect.poll(() => focused()).toBe("Vitrine");
  await page.keyboard.press("Tab");
  await expect.poll(() => focused()).toBe("Sign out");
  await page.keyboard.press("Tab");
  await expect.poll(() => focused()).toBe("New show");
  await page.keyboard.press("Tab"); // the search
  await page.keyboard.type("LONG ago");
  await page
    .getByRole("status")
    .filter({ hasText: /^1 show$/u })
    .waitFor();
  await page.keyboard.press("Tab"); // the status
  await page.keyboard.press("Tab");
  await expect.poll(() => focused()).toContain("Archived long ago");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Archived long ago Archived" }).waitFor();
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("ArrowDown"); // live ones, of those that the search finds
  await page
    .getByRole("status")
    .filter({ hasText: /^0 shows$/u })
    .waitFor();
  await page.keyboard.press("Home");
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("ControlOrMeta+A");
  await page.keyboard.press("Delete");
  await page
    .getByRole("status")
    .filter({ hasText: /^3 shows$/u })
    .waitFor();
  await page.getByRole("link", { name: /^Autumn looks/u }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Autumn looks Live" }).waitFor();
  for (let tabs = 0; (await focused()) !== "Show as a table"; tabs += 1) {
    expect(tabs, "the table can be reached").toBeLessThan(10);
    await page.keyboard.press("Tab");
  }
  await page.keyboard.press("Space");
  await page.getByRole("columnheader", { name: "Added to cart" }).first().waitFor();
  await page.keyboard.press("Tab");
  await page.getByRole("region", { name: "Timeline as a table" }).waitFor();
  expectClean(opened);
  await opened.close();
});
