// @tier all
import { expect, test } from "vitest";
import { fromNow } from "../../support/clock.js";
import { createTestStore } from "../../support/app.js";
import { expectAccessible, expectClean, openAppInBrowser, phone } from "../../support/browser/browser.js";
import { enterToken, openDashboard, openSignIn } from "../../support/browser/dashboard.js";
import { addShows, saved } from "../../support/shows.js";

const { app, browser } = await openAppInBrowser({ analyticsRateLimit: 0 });

async function storeWithShows(count: number) {
  const store = await createTestStore(app);
  const newest = new Date("2026-05-04T18:00:00Z");
  await addShows(app, store, { count, name: "'Show number ' || n", newest, apartSeconds: 86_400 });
  return store;
}

test("one of many shows is found by words of its name; the number of matches is shown, and the selected one stays marked", async () => {
  const store = await storeWithShows(130);
  const opened = await openDashboard(browser, app, store);
  const { page } = opened;
  const list = page.getByRole("navigation");
  const marked = list.locator("a[aria-current=page]");
  const told = (text: string) => list.getByRole("status").filter({ hasText: text }).waitFor();
  await told("130 shows");
  await page.getByLabel("Search shows").fill("NUMBER 77");
  await told("1 show");
  await list.getByRole("link", { name: "Show number 77" }).click();
  await page.getByRole("heading", { level: 1, name: "Show number 77 Ended" }).waitFor();
  await page.getByLabel("Search shows").fill("");
  await told("130 shows");
  await expect.poll(() => marked.count()).toBe(1);
  await expect.poll(() => list.locator(".unlisted").innerText()).toContain("Show number 77");
  await opened.screenshot("dashboard.many");

  for (let shown = 20; shown < 130; shown = Math.min(130, shown + 100)) {
    // By the keyboard: the button moves down while the rows above it are drawn.
    await page.getByRole("button", { name: "Show more", disabled: false }).press("Enter");
    await expect.poll(() => list.locator("li").count()).toBeGreaterThan(shown + 1);
  }
  await expect.poll(() => list.locator(".unlisted").count()).toBe(0);
  await expect.poll(() => marked.textContent()).toContain("Show number 77");
  await page.reload();
  await page.getByRole("heading", { level: 1, name: "Show number 77 Ended" }).waitFor();
  await expect.poll(() => list.locator(".unlisted").innerText()).toContain("Show number 77");
  await page.getByLabel("Search shows").fill("nothing of the kind");
  await told("0 shows");
  await expectAccessible(opened);
  expectClean(opened);
  await opened.close();
});

test.each([
  ["desktop", {}],
  ["phone", phone],
])(
  "a show is created without GraphQL, on a %s: scheduled, or live at once, and never in place of another",
  async (device, options) => {
    const store = await createTestStore(app);
    const opened = await openDashboard(browser, app, store, options);
    const { page } = opened;
    await page.getByRole("button", { name: "Create the first show" }).click();
    const dialog = page.getByRole("dialog", { name: "New show" });
    await dialog.waitFor();
    await expect.poll(() => page.evaluate("document.activeElement.id")).toBe("new-show-name");
    await page.keyboard.type("عرض Herbst & Winter 24");
    await expect.poll(() => dialog.getByLabel("Id").inputValue()).toBe("عرض-herbst-winter-24");
    await dialog.getByLabel("Start").fill("2099-01-02T18:30");
    await expectAccessible(opened);
    await opened.screenshot(`dashboard.newShow.${device}`);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "عرض Herbst & Winter 24 Scheduled" }).waitFor();
    await expect.poll(() => dialog.count()).toBe(0);
    const toggle = page.getByRole("button", { name: "Shows", exact: true });
    if (await toggle.isVisible()) await toggle.click();
    await page.getByRole("navigation").getByRole("status").filter({ hasText: "1 show" }).waitFor();

    await page.getByRole("button", { name: "New show" }).click();
    await dialog.getByLabel("Name").fill("Other");
    await dialog.getByLabel("Id").fill("عرض-herbst-winter-24");
    await dialog.getByRole("button", { name: "Create show" }).click();
    await dialog
      .getByRole("alert")
      .filter({ hasText: "There is a show with the id عرض-herbst-winter-24 already." })
      .waitFor();
    await dialog.getByLabel("Id").fill("other");
    await dialog.getByRole("button", { name: "Create show" }).click();
    await page.getByRole("heading", { level: 1, name: "Other Live" }).waitFor();
    const { data } = await store.graphql("{ liveStreams { nodes { id name status startedAt } } }");
    expect(data.liveStreams.nodes).toEqual([
      { id: "other", name: "Other", status: "LIVE", startedAt: expect.any(String) },
      {
        id: "عرض-herbst-winter-24",
        name: "عرض Herbst & Winter 24",
        status: "SCHEDULED",
        startedAt: "2099-01-02T18:30:00.000Z",
      },
    ]);
    if (await toggle.isVisible()) await toggle.click();
    await page.getByRole("button", { name: "New show" }).click();
    await dialog.waitFor();
    await page.keyboard.press("Escape");
    await expect.poll(() => dialog.count()).toBe(0);
    expectClean(opened);
    await opened.close();
  },
);

test("the list's search sends one request, after the last key", async () => {
  const store = await createTestStore(app);
  await saved(store, { name: "Only" });
  const opened = await openSignIn(browser, app);
  const { page } = opened;
  const searches: string[] = [];
  page.on("request", (request) => {
    const { query, variables } = (request.postDataJSON() ?? {}) as { query?: string; variables?: { search?: string } };
    if (query?.includes("query Shows") === true && variables?.search) searches.push(variables.search);
  });
  await enterToken(page, store.token);
  const search = page.getByLabel("Search shows");
  await search.waitFor();
  await page.clock.install();
  await page.clock.pauseAt(fromNow(60_000)); // by the page's clock no key is late, however busy this machine is
  for (const key of "Only") {
    await search.press(key);
    await page.clock.runFor(200);
  }
  await page.clock.runFor(1_000);
  await expect.poll(() => searches.length).toBeGreaterThan(0);
  expect(searches).toEqual(["Only"]);
  expectClean(opened);
  await opened.close();
});
