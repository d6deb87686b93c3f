// @tier all
import { beforeAll, describe, expect, test } from "vitest";
import { setStore } from "../../../../src/stores/store.js";
import { ago, fromNow } from "../../../support/clock.js";
import { createTestStore, type TestStore } from "../../../support/app.js";
import { expectClean, openAppInBrowser } from "../../../support/browser/browser.js";
import { openDashboard, readTiles } from "../../../support/browser/dashboard.js";
import {
  expectedOverviewTiles,
  linkOf,
  place,
  readStoreFigures,
  storeWithHistory,
  watchOperation,
} from "../../../support/browser/overview.js";
import { order } from "../../../support/events.js";
import { recorded, saved } from "../../../support/shows.js";

const { app, browser } = await openAppInBrowser({ analyticsRateLimit: 0 });
let store: TestStore;
beforeAll(async () => {
  store = await storeWithHistory(app);
});

const link = (query: string, of: Pick<TestStore, "token"> = store) => linkOf(app)(query, of);

describe("the figures over shows", () => {
  test.each([28, 90])("of the last %s days equal those of the API, with their change", async (days) => {
    const opened = await browser.open(link(`?days=${days}`), place);
    const { page } = opened;
    const { last } = watchOperation(page, "StoreFigures");
    await page.clock.setFixedTime(fromNow(0)); // else the range may become another one at midnight
    await page.reload();
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
    await page.getByRole("article").first().waitFor();
    const { data } = await store.graphql(readStoreFigures, last());
    const { storeAnalytics } = data;
    expect(storeAnalytics.showCount).toBe({ 28: 4, 90: 7 }[days]);
    await expect.poll(() => readTiles(page)).toEqual(expectedOverviewTiles(storeAnalytics));
    await expect.poll(async () => (await readTiles(page))["Sales"]?.[1]).toMatch(/^€[\d,]+\.\d\d$/u);

    await page.getByText("Show as a table").click();
    const table = page.getByRole("region", { name: "Figures over time as a table" });
    await table.getByRole("row").nth(1).waitFor();
    const day = new Intl.DateTimeFormat("en-US", { timeZone: "UTC", weekday: "short", day: "numeric", month: "short" });
    const money = new Intl.NumberFormat("en-US", { style: "currency", currency: "EUR" });
    await expect
      .poll(async () => (await table.getByRole("row").allInnerTexts()).slice(1).map((row) => row.replaceAll("\n", "")))
      .toEqual(
        storeAnalytics.timeline.map((bucket: any) =>
          [day.format(new Date(bucket.startsAt)), money.format(bucket.sales), bucket.orders, bucket.carts].join("\t"),
        ),
      );
    expectClean(opened);
    await opened.close();
  });

  test("are of days in the store's time zone, not the browser's, also for custom dates, which are in the URL", async () => {
    const own = await storeWithHistory(app);
    await setStore(app.db, own.id, { timeZone: "America/New_York" }); // its clocks change in March
    const opened = await browser.open(link("?from=2026-03-01&until=2026-03-31&chart=carts", own), {
      locale: "en-GB",
      timezoneId: "Asia/Tokyo",
    });
    const { page } = opened;
    const { last } = watchOperation(page, "StoreFigures");
    await page.getByText(/^1\s?–\s?31 Mar 2026, compared with 25 Jan\s?–\s?24 Feb 2026$/u).waitFor();
    await expect.poll(() => page.getByLabel("From").inputValue()).toBe("2026-03-01");
    await expect.poll(() => page.getByRole("radio", { name: "Added to cart" }).isChecked()).toBe(true);
    await page.getByLabel("To", { exact: true }).fill("2026-02-01");
    await page.getByRole("button", { name: "Apply" }).click();
    await page.getByRole("alert").filter({ hasText: "The last day must not be before the first." }).waitFor();
    await page.getByLabel("To", { exact: true }).fill("2026-03-08");
    await page.getByRole("button", { name: "Apply" }).click();
    await page.getByText(/^1\s?–\s?8 Mar 2026, compared with 15\s?–\s?22 Feb 2026$/u).waitFor();
    expect(last()).toEqual({
      from: "2026-03-01T05:00:00.000Z",
      until: "2026-03-09T04:00:00.000Z",
      timeZone: "America/New_York",
      bucket: "DAY",
    });
    await expect.poll(() => new URL(page.url()).search).toBe("?from=2026-03-01&until=2026-03-08&chart=carts");
    await page.goBack();
    await page.getByText(/^1\s?–\s?31 Mar 2026, compared with 25 Jan\s?–\s?24 Feb 2026$/u).waitFor();
    await page.getByText("7 days").click();
    await expect.poll(() => new URL(page.url()).search).toBe("?days=7&chart=carts");
    await page.getByText("28 days").click();
    await page.getByRole("article").first().waitFor();
    await expect.poll(() => new URL(page.url()).search).toBe("?chart=carts");
    expectClean(opened);
    await opened.close();
  });

  test("of a range that ends now are compared until the same time of day, which the label says", async () => {
    const own = await storeWithHistory(app);
    await setStore(app.db, own.id, { timeZone: "Asia/Kolkata" });
    const opened = await browser.open("about:blank", { locale: "en-GB", timezoneId: "UTC" });
    const { page } = opened;
    await page.clock.setFixedTime(new Date().setUTCHours(6, 20)); // a range that ends at midnight would say no time
    await page.goto(link("?days=7", own));
    await page
      .getByText(/^.+, until 11:51 (?:IST|GMT\+5:30), compared with .+, until 11:51 (?:IST|GMT\+5:30)$/u)
      .waitFor();
    const region = page.getByRole("region", { name: "Shows", exact: true });
    await region
      .getByText(/, \d\d:\d\d (?:IST|GMT\+5:30)$/u)
      .first()
      .waitFor();
    expectClean(opened);
    await opened.close();
  });

  test("without viewers and orders have no average, and no change in percent of what was paid back before", async () => {
    const own = await createTestStore(app);
    const daysAgo = (days: number) => ({ startedAt: ago(days * 86_400_000).toISOString() });
    const [{ id: last }, { id: first }] = [await saved(own, daysAgo(1)), await saved(own, daysAgo(8))];
    await recorded(own, last, [{ ...order("1", 4), type: "REFUND" }]);
    await recorded(own, first, [{ ...order("1", 9), type: "REFUND" }]);
    const opened = await browser.open(link("?days=7", own), place);
    const { page } = opened;
    await page.getByRole("article").first().waitFor();
    await expect
      .poll(() => readTiles(page))
      .toMatchObject({
        "Net sales": ["4.00 refunded", "-4.00", "▲ ", "up", "from -9.00"],
        "Add to cart": ["of viewers", "–", "none before"],
        "View time": ["average", "–", "none before"],
        Conversion: ["per 100 viewers", "–", "none before"],
      });
    expectClean(opened);
    await opened.close();
  });

  test("are requested every 30 seconds, not while the tab is hidden, and at once when it is shown", async () => {
    const own = await createTestStore(app);
    const { id } = await saved(own, { status: "LIVE", name: "On air", startedAt: new Date().toISOString() });
    const opened = await openDashboard(browser, app, own);
    const { page } = opened;
    const sales = page.getByRole("article").filter({ hasText: "Sales" });
    await sales.getByText("0.00", { exact: true }).first().waitFor();
    const { sent } = watchOperation(page, "StoreFigures");
    await page.clock.install();
    await page.reload();
    await sales.getByText("0.00", { exact: true }).first().waitFor();
    expect(sent).toHaveLength(1);
    await recorded(own, id, [order("1", 12.5)]);
    await page.clock.runFor(31_000);
    await sales.getByText("12.50", { exact: true }).waitFor();
    expect(sent).toHaveLength(2);

    const show = (state: string) =>
      page.evaluate(
        `Object.defineProperty(document, "visibilityState", { value: "${state}", configurable: true }),
         document.dispatchEvent(new Event("visibilitychange"))`,
      );
    await show("hidden");
    await recorded(own, id, [order("2", 10)]);
    await page.clock.runFor(300_000);
    expect(sent).toHaveLength(2);
    await show("visible");
    await sales.getByText("22.50", { exact: true }).waitFor();
    expect(sent).toHaveLength(3);
    await page.getByRole("region", { name: "Live now" }).getByRole("link", { name: "On air" }).click();
    await page.getByRole("heading", { level: 1, name: "On air Live" }).waitFor();
    expectClean(opened);
    await opened.close();
  });
});

test("a failing server is reported, the last figures stay, and they are requested again", async () => {
  const opened = await openDashboard(browser, app, store);
  const { page } = opened;
  await page.getByRole("article").first().waitFor();
  const before = await readTiles(page);
  let code: string | undefined = "INTERNAL";
  await page.route("**/graphql", (route) => {
    if (code === undefined || route.request().postData()?.includes("query StoreFigures") !== true) {
      return route.continue();
    }
    return route.fulfill({
      status: 200,
      json: { errors: [{ message: "No.", extensions: { code, requestId: "r1" } }] },
    });
  });
  const status = (text: string) => page.getByRole("status").filter({ hasText: text }).waitFor();
  const notice = page.getByRole("alert").filter({ hasText: "No. (r1) The figures below are the last that arrived." });
  await page.getByText("90 days").click();
  await notice.waitFor();
  await status("Reconnecting");
  expect(await readTiles(page)).toEqual(before);
  code = "BAD_REQUEST"; // a retry would not help
  await status("Stopped");
  code = undefined;
  await page.getByRole("button", { name: "Try now" }).click();
  await status("Up to date");
  await expect.poll(() => notice.count()).toBe(0);
  await expect.poll(() => readTiles(page)).not.toEqual(before);
  await page.context().setOffline(true);
  await page.getByText("7 days").click();
  await page.getByRole("alert").filter({ hasText: "You are offline." }).waitFor();
  await page.context().setOffline(false);
  await status("Up to date");
  expectClean(opened, [/ERR_INTERNET_DISCONNECTED/u]);
  await opened.close();
});
