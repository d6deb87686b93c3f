// @tier all
import { describe, expect, test } from "vitest";
import { fromNow } from "../../support/clock.js";
import { createTestStore } from "../../support/app.js";
import { expectClean, openAppInBrowser } from "../../support/browser/browser.js";
import { openDashboard, openNewestShow } from "../../support/browser/dashboard.js";
import { saved } from "../../support/shows.js";

const { app, browser } = await openAppInBrowser({ analyticsRateLimit: 0 });

describe("the list", () => {
  test("of a store without shows explains how to save one, which then appears", async () => {
    const store = await createTestStore(app);
    const opened = await openDashboard(browser, app, store);
    const { page } = opened;
    await page.getByRole("heading", { level: 1, name: "No shows yet" }).waitFor();
    const { data } = await store.graphql("{ store { name } }");
    await page.getByRole("banner").getByText(data.store.name, { exact: true }).waitFor();
    await saved(store, { name: "The first" });
    await page.getByLabel("Status").selectOption("Ended");
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
    await expect.poll(() => page.getByRole("navigation").getByRole("link").allInnerTexts()).toHaveLength(1);
    expectClean(opened);
    await opened.close();
  });

  test("marks the selected show, loads the others by pages and by status, and keeps the selection in the URL", async () => {
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
    const opened = await openNewestShow(browser, app, store);
    const { page } = opened;
    const links = page.getByRole("navigation").getByRole("link");
    await page.getByRole("heading", { level: 1, name: "Show 9" }).waitFor();
    await expect.poll(() => links.count()).toBe(20);
    await page.getByRole("button", { name: "Show more" }).click();
    await links.nth(21).waitFor();
    await expect.poll(() => page.getByRole("button", { name: "Show more" }).count()).toBe(0);
    await page.getByRole("link", { name: /^Show 1 /u }).click();
    await page.getByRole("heading", { level: 1, name: "Show 1 Ended" }).waitFor();
    await expect.poll(() => new URL(page.url()).search).toBe("?show=show-1");
    await expect.poll(() => page.title()).toBe("Show 1 – Vitrine");
    await page.goBack();
    await page.getByRole("heading", { level: 1, name: "Show 9 Live" }).waitFor();
    await page.getByLabel("Status").selectOption("Archived");
    await page.getByRole("link", { name: "Show 10" }).waitFor();
    await expect.poll(() => links.count()).toBe(2); // and the selected one, apart
    await expect.poll(() => page.locator(".unlisted").innerText()).toContain("Show 9");
    expectClean(opened);
    await opened.close();
  });

  test("lists scheduled shows separately, after the others; such a show states its start, and shows figures once it is live", async () => {
    const store = await createTestStore(app);
    const startedAt = fromNow(7_199_000).toISOString();
    await saved(store, { name: "Held", startedAt: "2026-05-01T18:00:00Z" });
    await saved(store, { id: "next", name: "Announced", status: "SCHEDULED", startedAt });
    const opened = await openNewestShow(browser, app, store);
    const { page } = opened;
    await page.getByRole("heading", { level: 1, name: "Held" }).waitFor();
    const list = page.getByRole("navigation");
    await expect
      .poll(() => list.locator("h3, .show-name").allTextContents())
      .toEqual(["Held", "Scheduled", "Announced"]);
    const [held = 0, announced = 0] = await list
      .locator("time")
      .evaluateAll((times) => times.map((time) => time.getBoundingClientRect().height));
    expect(announced / held, "the time of the scheduled show is on one line").toBeLessThan(1.5);
    await page.getByLabel("Status").selectOption("Scheduled");
    await page
      .getByRole("status")
      .filter({ hasText: /^1 show$/u })
      .waitFor();
    await list.getByRole("link", { name: "Announced" }).click();
    await page.getByRole("heading", { level: 1, name: "Announced Scheduled" }).waitFor();
    await page.getByText(/^Starts .*in 1 hr 59 min/u).waitFor();
    await expect.poll(() => page.getByText("Figures appear here once it is live.").count()).toBe(1);
    await saved(store, { id: "next", name: "Announced", status: "LIVE", startedAt: new Date().toISOString() });
    await page.getByRole("heading", { level: 1, name: "Announced Live" }).waitFor();
    await page.getByRole("heading", { name: "Sales total" }).waitFor();
    expectClean(opened);
    await opened.close();
  });
});
