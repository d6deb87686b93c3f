// @tier all
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { issueToken } from "../../../src/stores/token.js";
import { ago } from "../../support/clock.js";
import { createTestStore, type TestStore } from "../../support/app.js";
import { expectAccessible, expectClean, openAppInBrowser, phone, setLook } from "../../support/browser/browser.js";
import { openNewestShow } from "../../support/browser/dashboard.js";
import { order, view } from "../../support/events.js";
import { importMany, product } from "../../support/products.js";
import { recorded, saved } from "../../support/shows.js";

const { app, browser } = await openAppInBrowser({ analyticsRateLimit: 0 });

const featured_image = "http://shop.example/picture.jpg"; // pages load none over HTTP
const startedAt = "2026-05-04T18:30:00.000Z";
const at = (minute: number) => new Date(Date.parse(startedAt) + minute * 60_000).toISOString();

/** Saves moments of a show. @throws if they are refused */
async function savedMoments(store: TestStore, lsId: string, moments: readonly object[]): Promise<void> {
  const save =
    "mutation ($lsId: String!, $moments: [MomentInput!]!) { saveMoments(lsId: $lsId, moments: $moments) { accepted } }";
  expect(await store.graphql(save, { lsId, moments })).toEqual({ data: { saveMoments: { accepted: moments.length } } });
}

/** An ended show of an hour with three pins, orders at its minutes 9, 36 and 51, and viewers of its first two minutes. */
async function storeWithPins(): Promise<TestStore> {
  const store = await createTestStore(app);
  await store.graphql(importMany, {
    products: [
      product("shirt", { title: "Linen shirt", featured_image }),
      product("hat", { title: "Hat", featured_image }),
    ],
  });
  const { id } = await saved(store, { name: "Evening show", startedAt });
  await savedMoments(store, id, [
    { id: "a", kind: "PIN", startedAt: at(0), productId: "shirt" },
    { id: "b", kind: "PIN", startedAt: at(20), endedAt: at(40), productId: "gone", title: "The one that is sold out" },
    { id: "c", kind: "PIN", startedAt: at(50), productId: "shirt" },
    { id: "d", kind: "MARKER", startedAt: at(30), title: "A coupon code" },
  ]);
  await recorded(store, id, [
    view("v1", { occurredAt: at(2), seconds: 120 }),
    view("v2", { occurredAt: at(2), seconds: 60, viewerId: "v2" }),
    { id: "c1", type: "ADD_TO_CART", channel: "LIVE", viewerId: "v1", productId: "shirt", occurredAt: at(5) },
    order("o1", 10, { occurredAt: at(9), viewerId: "v1", productId: "shirt" }),
    order("o2", 30, { occurredAt: at(36), productId: "hat" }),
    order("o3", 50, { occurredAt: at(51), productId: "hat" }),
  ]);
  return store;
}

let store: TestStore;
beforeAll(async () => {
  store = await storeWithPins();
});

const bands = (page: Page) => page.getByRole("toolbar", { name: "Pinned products" }).getByRole("button");

/** The figures of the pin that is shown, by their names. */
async function pinFigures(page: Page): Promise<Record<string, string>> {
  const texts = await page.locator(".pin-figures dl div").allInnerTexts();
  return Object.fromEntries(texts.map((text) => text.split("\n") as [string, string]));
}

/** With ordinary spaces. */
const plain = (text: string) => text.replaceAll(/\s/gu, " ");

/** The rows of the selected intervals: of each its name, length, sales, net sales and orders. */
async function selectedRows(page: Page): Promise<string[][]> {
  const rows = await page.getByRole("region", { name: "Figures of the selected intervals" }).locator("tbody tr").all();
  const cells = await Promise.all(rows.map((row) => row.locator("th, td").allInnerTexts()));
  return cells.map(([name = "", ...figures]) => [plain(name), ...figures.slice(0, 4)]);
}

/** Drags the pointer over a chart, from one share of its width to another. */
async function drag(page: Page, chart: number, from: number, until: number): Promise<void> {
  const plot = page.locator(".chart .u-over").nth(chart);
  await plot.scrollIntoViewIfNeeded();
  const { x, y, width, height } = (await plot.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
  await page.mouse.move(x + width * from, y + height / 2);
  await page.mouse.down();
  await page.mouse.move(x + width * until, y + height / 2, { steps: 4 });
  await page.mouse.up();
}

const intervalMarks = (page: Page) => page.locator(".interval").count();

test("pins are bands below each chart, in the color of their product, and show their figures", async () => {
  const opened = await openNewestShow(browser, app, store);
  const { page } = opened;
  await expect
    .poll(() => bands(page).allInnerTexts())
    .toEqual(["Linen shirt", "The one that is sold out", "Linen shirt"]);
  expect(await page.locator(".pins").count()).toBe(4);
  expect(await page.locator(".pin").count()).toBe(12);
  const colors = await bands(page).evaluateAll((all: any[]) => all.map((band) => band.style.getPropertyValue("--pin")));
  expect(colors[0]).toBe(colors[2]);
  expect(colors[0]).not.toBe(colors[1]);
  const [axis, band] = [await page.locator(".u-over").first().boundingBox(), await bands(page).nth(1).boundingBox()];
  expect(((band?.x ?? 0) - (axis?.x ?? 0)) / (axis?.width ?? 1)).toBeCloseTo(20 / 60, 2);
  expect((band?.width ?? 0) / (axis?.width ?? 1)).toBeCloseTo(20 / 60, 2);

  await page.locator(".pins").nth(3).locator(".pin").first().hover();
  await expect
    .poll(() => pinFigures(page))
    .toEqual({
      Length: "20 min",
      Sales: "10.00",
      "Net sales": "10.00",
      Orders: "1",
      "Added to cart": "1",
      "Average viewers": "0.15",
      "Most at once": "2",
      "New viewers": "2",
      "Sales of the product": "10.00",
      "Orders of the product": "1",
      "Within 30 min of adding": "1",
    });
  await page.mouse.move(0, 0);
  await expect.poll(() => page.locator(".pin-figures").count()).toBe(0);
  await bands(page).last().focus();
  await expect.poll(async () => (await pinFigures(page))["Sales"]).toBe("50.00");
  await page.keyboard.press("ArrowLeft");
  await expect.poll(async () => (await pinFigures(page))["Sales"]).toBe("30.00");
  await page.getByRole("status").filter({ hasText: "Sales,30.00" }).waitFor({ state: "attached" });
  await opened.screenshot("moments.pins");
  await page.keyboard.press("Home");
  await expect.poll(async () => (await pinFigures(page))["Sales"]).toBe("10.00");
  await page.keyboard.press("End");
  await expect.poll(async () => (await pinFigures(page))["Sales"]).toBe("50.00");
  await page.keyboard.press("Escape");
  await expect.poll(() => page.locator(".pin-figures").count()).toBe(0);
  expectClean(opened);
  await opened.close();
});

test("a pin that somebody saves appears on an open page, and its figures grow", async () => {
  const own = await createTestStore(app);
  await own.graphql(importMany, { products: [product("hat", { title: "Hat", featured_image })] });
  const { id } = await saved(own, { status: "LIVE", startedAt: ago(600_000).toISOString() });
  await recorded(own, id, [order("o", 5, { occurredAt: ago(300_000).toISOString() })]);
  const opened = await openNewestShow(browser, app, own);
  const { page } = opened;
  await page.locator("canvas").nth(3).waitFor();
  expect(await bands(page).count()).toBe(0);
  await savedMoments(own, id, [{ id: "a", kind: "PIN", startedAt: ago(60_000).toISOString(), productId: "hat" }]);
  await bands(page).filter({ hasText: "Hat" }).waitFor();
  await page.getByText("Shown now: Hat").waitFor();
  await bands(page).focus();
  await expect.poll(async () => (await pinFigures(page))["Sales of the product"]).toBe("0.00");
  for (const [event, sales] of [
    ["1", "12.50"],
    ["2", "25.00"],
  ] as const) {
    await recorded(own, id, [order(event, 12.5, { productId: "hat", occurredAt: ago(30_000).toISOString() })]);
    await expect.poll(async () => (await pinFigures(page))["Sales of the product"]).toBe(sales);
  }
  expectClean(opened);
  await opened.close();
});

test("only pins within the chart are bands, and the one of this minute is named", async () => {
  const own = await createTestStore(app);
  const pin = (id: string, minute: number, more = {}) => {
    const time = { startedAt: ago(-60_000 * minute).toISOString(), ...more };
    return { id, kind: "PIN", productId: id, title: id.repeat(50), ...time };
  };
  const { id } = await saved(own, { status: "LIVE", startedAt: ago(1_800_000).toISOString() });
  await recorded(own, id, [order("o", 5, { occurredAt: ago(1_000_000).toISOString() })]);
  await savedMoments(own, id, [
    pin("before", -50, { endedAt: ago(2_400_000).toISOString() }),
    pin("first", -30),
    pin("second", -10),
    pin("next", 5),
  ]);
  const opened = await openNewestShow(browser, app, own, phone);
  const { page } = opened;
  await page.getByText("Shown now: second").waitFor();
  expect(await bands(page).evaluateAll((all: any[]) => all.map(({ dataset }) => dataset.id))).toEqual([
    "first",
    "second",
  ]);
  await bands(page).last().focus();
  await page.locator(".pin-figures").waitFor();
  expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
  expectClean(opened);
  await opened.close();
});

test("dragging over charts selects intervals, whose figures and difference are shown", async () => {
  const opened = await openNewestShow(browser, app, store);
  const { page } = opened;
  await page.locator("canvas").nth(3).waitFor();
  await drag(page, 0, 0.1, 0.2);
  await expect.poll(async () => (await selectedRows(page))[0]?.slice(2)).toEqual(["10.00", "10.00", "1"]);
  expect((await selectedRows(page))[0]?.[0]).toMatch(/^1: May 4, 6:3[56]:\d\d PM – 6:4[12]:\d\d PM$/u);
  expect(await intervalMarks(page)).toBe(4);
  await drag(page, 3, 0.7, 0.5); // backwards, over another chart
  await expect
    .poll(async () => (await selectedRows(page)).map((row) => row.slice(2)))
    .toEqual([
      ["10.00", "10.00", "1"],
      ["30.00", "30.00", "1"],
      ["+20.00\n+200%", "+20.00\n+200%", "0"],
    ]);
  expect(await intervalMarks(page)).toBe(8);
  await opened.screenshot("moments.intervals");
  await drag(page, 1, 0.8, 0.9);
  await expect
    .poll(async () => (await selectedRows(page)).map((row) => row[2]))
    .toEqual(["30.00", "50.00", "+20.00\n+66.7%"]);
  await page.locator(".u-over").first().click(); // without a movement
  expect(await intervalMarks(page)).toBe(8);
  await page.keyboard.press("Escape");
  await expect.poll(() => intervalMarks(page)).toBe(0);
  await drag(page, 0, 0.1, 0.2);
  await page.getByRole("button", { name: "Clear selection" }).click();
  await expect.poll(() => page.getByRole("region", { name: "Selected intervals" }).count()).toBe(0);
  expectClean(opened);
  await opened.close();
});

test("an interval has its days, also where it is not in the chart, and a bar of a day covers that day", async () => {
  const opened = await openNewestShow(browser, app, store);
  const { page } = opened;
  await page.getByText("Until now").click();
  await page.getByText("In steps of 1 day").waitFor();
  await page.getByRole("slider").focus();
  for (const key of ["ArrowRight", "Enter"]) await page.keyboard.press(key);
  await expect.poll(async () => (await selectedRows(page))[0]?.[0]).toBe("1: May 5, 12:00:00 AM – May 6, 12:00:00 AM");
  expect(await intervalMarks(page)).toBe(8); // four are of the keyboard's cursor
  await page.getByText("During the show").click();
  await expect.poll(() => intervalMarks(page)).toBe(0);
  expect((await selectedRows(page)).length).toBe(1);
  await opened.close();
});

test("Escape closes what is over the charts before it removes selected intervals", async () => {
  const opened = await openNewestShow(browser, app, store);
  const { page } = opened;
  await page.getByRole("slider").focus();
  await page.keyboard.press("ArrowRight");
  await drag(page, 0, 0.1, 0.2); // the focus leaves the keyboard's cursor
  await expect.poll(() => intervalMarks(page)).toBe(4);
  await page.getByRole("searchbox").focus();
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "New show" }).click();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.locator(".pins").nth(1).locator(".pin").first().hover();
  await page.locator(".pin-figures").waitFor();
  await page.keyboard.press("Escape");
  await expect.poll(() => page.locator(".pin-figures").count()).toBe(0);
  expect(await intervalMarks(page)).toBe(4);
  await page.keyboard.press("Escape");
  await expect.poll(() => intervalMarks(page)).toBe(0);
  expectClean(opened);
  await opened.close();
});

test("a failure of the figures of intervals is said, and a tab that is shown asks again at once", async () => {
  const opened = await openNewestShow(browser, app, store);
  const { page } = opened;
  await page.locator("canvas").nth(3).waitFor();
  const refused = {
    errors: [{ message: "Too many calls.", extensions: { code: "RATE_LIMITED", retryAfterSeconds: 99 } }],
  };
  let isRefused = true;
  await page.route("**/graphql", (route) =>
    isRefused && route.request().postData()?.includes("Intervals(") === true
      ? route.fulfill({ status: 429, json: refused })
      : route.continue(),
  );
  await drag(page, 0, 0.1, 0.2);
  await page.getByText("Too many calls.").waitFor();
  expect(await page.getByRole("status").allInnerTexts()).not.toContainEqual(expect.stringContaining("…"));
  isRefused = false;
  await page.evaluate("document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))");
  await expect.poll(async () => (await selectedRows(page))[0]?.[2]).toBe("10.00");
  await expect.poll(() => page.getByText("Too many calls.").count()).toBe(0);
  expectClean(opened, [/429/u]);
  await opened.close();
});

test("the figures of a selected interval grow while the show runs", async () => {
  const own = await createTestStore(app);
  const { id } = await saved(own, { status: "LIVE", startedAt: ago(1_200_000).toISOString() });
  await recorded(own, id, [order("1", 5, { occurredAt: ago(600_000).toISOString() })]);
  const { page } = await openNewestShow(browser, app, own);
  await page.locator("canvas").nth(3).waitFor();
  await drag(page, 2, 0.2, 0.8);
  await expect.poll(async () => (await selectedRows(page))[0]?.[2]).toBe("5.00");
  await recorded(own, id, [order("2", 7, { occurredAt: ago(600_000).toISOString() })]);
  await expect.poll(async () => (await selectedRows(page))[0]?.[2]).toBe("12.00");
});

test("the keyboard selects intervals, too, and screen readers hear their figures", async () => {
  const opened = await openNewestShow(browser, app, store);
  const { page } = opened;
  const slider = page.getByRole("slider", { name: "Interval" });
  await slider.focus();
  const press = async (key: string, times: number) => {
    for (let time = 0; time < times; time += 1) await page.keyboard.press(key);
  };
  await press("ArrowRight", 5);
  await expect.poll(async () => plain((await slider.getAttribute("aria-valuetext")) ?? "")).toBe("May 4, 6:35:00 PM");
  await press("Shift+ArrowRight", 5);
  await expect
    .poll(async () => plain((await slider.getAttribute("aria-valuetext")) ?? ""))
    .toBe("May 4, 6:35:00 PM – 6:40:00 PM");
  await page.keyboard.press("Enter");
  const first = ["1: May 4, 6:35:00 PM – 6:40:00 PM", "5 min", "10.00", "10.00", "1"];
  await expect.poll(() => selectedRows(page)).toEqual([first]);
  await page.getByRole("status").filter({ hasText: "Sales 10.00" }).waitFor({ state: "attached" });
  await page.keyboard.press("End");
  await press("ArrowLeft", 9);
  await page.keyboard.press("Enter"); // the bucket at the cursor
  await expect
    .poll(async () => (await selectedRows(page)).slice(1))
    .toEqual([
      ["2: May 4, 7:21:00 PM – 7:22:00 PM", "1 min", "50.00", "50.00", "1"],
      ["2 against 1", "−4 min\n−80%", "+40.00\n+400%", "+40.00\n+400%", "0"],
    ]);
  await page.getByRole("status").filter({ hasText: "2 against 1" }).waitFor({ state: "attached" });
  await expectAccessible(opened);
  await setLook(page, "dark");
  await expectAccessible(opened);
  await page.keyboard.press("Escape");
  await expect.poll(() => selectedRows(page)).toEqual([]);
  expectClean(opened);
  await opened.close();
});

test("on a phone, a tap shows a pin, a sideways touch selects, and the page scrolls", async () => {
  const opened = await openNewestShow(browser, app, store, phone);
  const { page } = opened;
  await bands(page).nth(1).tap();
  await expect.poll(async () => (await pinFigures(page))["Sales"]).toBe("30.00");
  await expect.poll(() => page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
  await opened.screenshot("moments.phone");
  const touch = await page.context().newCDPSession(page);
  const plot = page.locator(".u-over").first();
  const swipe = async (stepX: number, stepY: number) => {
    const { x, y, width, height } = (await plot.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
    const pointAt = (step: number) => [{ x: x + width / 2 + step * stepX, y: y + height / 2 + step * stepY }];
    await touch.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: pointAt(0) });
    for (let step = 1; step < 8; step += 1) {
      await touch.send("Input.dispatchTouchEvent", { type: "touchMove", touchPoints: pointAt(step) });
    }
    await touch.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
  };
  const scrolled = (await page.evaluate("scrollY")) as number;
  await swipe(0, -20);
  await expect.poll(() => page.evaluate("scrollY")).toBeGreaterThan(scrolled);
  expect(await intervalMarks(page)).toBe(0);
  await plot.scrollIntoViewIfNeeded();
  await swipe(10, 0);
  await expect.poll(async () => (await selectedRows(page))[0]?.[2]).toBe("30.00");
  await expect.poll(() => page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
  await expectAccessible(opened);
  expectClean(opened);
  await opened.close();
});

test("without catalog:read, bands have the titles of moments, or the ids of products", async () => {
  const token = await issueToken(app.db, store.id, { scopes: ["analytics:read"] });
  const opened = await openNewestShow(browser, app, token);
  const { page } = opened;
  await expect.poll(() => bands(page).allInnerTexts()).toEqual(["shirt", "The one that is sold out", "shirt"]);
  await bands(page).first().hover();
  await expect.poll(async () => (await pinFigures(page))["Sales of the product"]).toBe("10.00");
  expectClean(opened);
  await opened.close();
});
