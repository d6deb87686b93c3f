// @tier all
import { beforeAll, describe, expect, test } from "vitest";
import { issueToken } from "../../../../src/stores/token.js";
import { createTestStore, type TestStore } from "../../../support/app.js";
import {
  expectAccessible,
  expectAccessibleAs,
  expectClean,
  openAppInBrowser,
  screens,
  setLook,
  type TestPage,
} from "../../../support/browser/browser.js";
import { linkOf, place, storeWithHistory } from "../../../support/browser/overview.js";
import { saved } from "../../../support/shows.js";
import { ofDay } from "../../../support/run/tier.js";

const { app, browser } = await openAppInBrowser({ analyticsRateLimit: 0 });
const link = linkOf(app);

let store: TestStore;
beforeAll(async () => {
  store = await storeWithHistory(app);
  await saved(store, { id: "on-air", name: "On air", status: "LIVE", startedAt: new Date().toISOString() });
});

describe.each(ofDay(screens, 2))(
  "on a %s, nothing is wider than the screen, and there are no accessibility violations",
  (_, options, looks) => {
    let opened: TestPage; // one for all looks
    beforeAll(async () => {
      const year = new Date().getUTCFullYear();
      const range = `?from=${year - 1}-01-01&until=${year + 3}-12-30`;
      opened = await browser.open(link(range, store), { ...place, ...options });
      return () => opened.close();
    });
    const fits = () => opened.page.evaluate("document.documentElement.scrollWidth <= innerWidth");

    test.each(looks)("in the overview: %s", async (look) => {
      const { page } = opened;
      await page.getByRole("region", { name: "Products", exact: true }).waitFor();
      await page.getByRole("region", { name: "Shows", exact: true }).waitFor();
      await page.locator("canvas").waitFor();
      await setLook(page, look);
      await expect.poll(fits).toBe(true);
      await page.getByText("Show as a table").click();
      await expectAccessibleAs(look, opened);
      await expect.poll(fits).toBe(true);
      await page.getByText("Show as a table").click();
      await page.evaluate("scrollTo(0, 0)");
      await opened.screenshot(`overview.${look}`);
      await page.getByRole("region", { name: "Shows", exact: true }).scrollIntoViewIfNeeded();
      await opened.screenshot(`overview.${look}.table`);
      expectClean(opened);
    });

    test("in the comparison", async () => {
      const { page } = opened;
      await page.goto(link("?compare=show-1&compare=on-air", store));
      await page.getByRole("heading", { level: 1, name: "Comparison" }).waitFor();
      await page.getByRole("region", { name: "Key figures of both shows" }).waitFor();
      for (const look of looks) {
        await setLook(page, look);
        await expect.poll(fits).toBe(true);
        await expectAccessibleAs(look, opened);
        await opened.screenshot(`overview.${look}.comparison`);
      }
      expectClean(opened);
    });
  },
);

test("everything in the overview can be done with the keyboard alone", async () => {
  const opened = await browser.open(link("?days=90", store), place);
  const { page } = opened;
  const search = () => new URL(page.url()).search;
  const focused = () =>
    page.evaluate(
      "document.activeElement.ariaLabel || document.activeElement.innerText || document.activeElement.name",
    );
  const tabTo = async (name: string) => {
    for (let tabs = 0; (await focused()) !== name; tabs += 1) {
      expect(tabs, `${name} can be reached`).toBeLessThan(60);
      await page.keyboard.press("Tab");
    }
  };
  const shows = page.getByRole("region", { name: "Shows", exact: true });
  await shows.waitFor();
  await page.getByRole("region", { name: "Products", exact: true }).waitFor();
  await tabTo("Skip to the figures");
  await page.keyboard.press("Enter");
  await tabTo("Time");
  await page.keyboard.press("ArrowLeft"); // 28 days
  await expect.poll(search).toBe("");
  await page.keyboard.press("ArrowRight");
  await expect.poll(search).toBe("?days=90");
  await tabTo("Figure of the chart");
  await page.keyboard.press("ArrowRight");
  await expect.poll(search).toBe("?days=90&chart=orders");
  await tabTo("Search in these shows");
  await page.keyboard.type("show");
  await expect.poll(search).toContain("search=show");
  await tabTo("Sales");
  await page.keyboard.press("Enter");
  await expect.poll(search).toContain("order=sales");
  await tabTo("Compare Show 0");
  await page.keyboard.press("Space");
  await expect.poll(search).toContain("pick=show-0");
  await tabTo("Show 1");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Show 1 Ended" }).waitFor();
  await page.keyboard.press("Tab");
  await expect.poll(() => focused()).toBe("‹ Overview");
  await page.keyboard.press("Enter");
  await shows.waitFor();
  await expect.poll(() => page.getByLabel("Compare Show 0").isChecked()).toBe(true);
  expectClean(opened);
  await opened.close();
});

describe("with little to show, the overview", () => {
  test("reports a range without shows, and explains how to save the first one", async () => {
    const opened = await browser.open(link("?from=2020-01-01&until=2020-01-31", store), place);
    const { page } = opened;
    await page.getByText("No show started in this time.").waitFor();
    await expect.poll(() => page.getByRole("article").count()).toBe(8);
    await page.getByText("No product has been put into a cart or ordered in this time.").waitFor();
    await page.getByRole("img", { name: "Sales over time: none" }).waitFor();
    await expectAccessible(opened);
    await opened.screenshot("overview.none");
    await page.goto(link("", await createTestStore(app)));
    await page.getByRole("heading", { level: 1, name: "No shows yet" }).waitFor();
    expectClean(opened);
    await opened.close();
  });

  test("shows everything but titles to a token with analytics:read alone, and refuses one without it", async () => {
    const reader = await issueToken(app.db, store.id, { scopes: ["analytics:read"] });
    const opened = await browser.open(link("?days=90", reader), place);
    const { page } = opened;
    await page.getByText("For titles and images, the access token needs the scope catalog:read.").waitFor();
    await page.getByRole("rowheader", { name: "mug" }).waitFor();
    await expect.poll(() => page.getByText("Blue mug").count()).toBe(0);
    await page.getByRole("status").filter({ hasText: "Up to date" }).waitFor();
    expectClean(opened);
    await opened.close();
    const other = await issueToken(app.db, store.id, { scopes: ["catalog:read"] });
    const refused = await browser.open(link("?days=90", other), place);
    await refused.page
      .getByRole("alert")
      .filter({ hasText: "The access token does not allow this. The access token does not have the scope analytics" })
      .waitFor();
    await refused.close();
  });
});
