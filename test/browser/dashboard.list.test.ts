import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestStore, startApp, type TestApp } from "../support/app.js";
import { expectClean, openBrowser, type TestBrowser } from "../support/browser.js";
import { openDashboard } from "../support/dashboard.js";
import { saved } from "../support/shows.js";

let app: TestApp;
let browser: TestBrowser;
beforeAll(async () => {
  [app, browser] = await Promise.all([startApp({ analyticsRateLimit: 0 }), openBrowser()]);
});
afterAll(async () => {
  await browser.close();
  await app.close();
});

describe("the list", () => {
  test("of a store without shows says how to save one, which then appears", async () => {
    const store = await createTestStore(app);
    const opened = await openDashboard(browser, app, store);
    const { page } = opened;
    await page.getByRole("heading", { level: 1, name: "No shows yet" }).waitFor();
    await saved(store, { name: "The first" });
    await page.getByRole("radio", { name: "Ended" }).press("Space");
    await page.getByRole("heading", { level: 1, name: "The first" }).waitFor();
    expect(await page.getByRole("navigation").getByRole("link").count()).toBe(1);
    expectClean(opened);
    await opened.close();
  });

  test("selects the newest live show, loads the others by pages and by status, and puts the selection into the address", async () => {
    const store = await createTestStore(app);
    for (let day = 1; day <= 22; day += 1) {
      const status = day === 9 ? "LIVE" : day === 10 ? "ARCHIVED" : "ENDED";
      const name = `Show ${day}`;
      await saved(store, {
        id: `show-${day}`,
        name,
        status,
        startedAt: `2026-05-${String(day).padStart(2, "0")}T18:00:00Z`,
      });
    }
    const opened = await openDashboard(browser, app, store);
    const { page } = opened;
    const links = page.getByRole("navigation").getByRole("link");
    await page.getByRole("heading", { level: 1, name: "Show 9" }).waitFor();
    expect(await links.count()).toBe(20);
    await page.getByRole("button", { name: "Show more" }).click();
    await links.nth(21).waitFor();
    expect(await page.getByRole("button", { name: "Show more" }).count()).toBe(0);
    await page.getByRole("link", { name: /^Show 1 /u }).click();
    await page.getByRole("heading", { level: 1, name: "Show 1 Ended" }).waitFor();
    expect(new URL(page.url()).search).toBe("?show=show-1");
    expect(await page.title()).toBe("Show 1 – Vitrine");
    await page.goBack();
    await page.getByRole("heading", { level: 1, name: "Show 9 Live" }).waitFor();
    await page.getByText("Archived", { exact: true }).first().click();
    await page.getByRole("link", { name: "Show 10" }).waitFor();
    await expect.poll(() => links.count()).toBe(1);
    expectClean(opened);
    await opened.close();
  });
});
