// @tier all
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ago, stopClock } from "../../support/clock.js";
import { createTestStore, startApp } from "../../support/app.js";
import { expectClean, openAppInBrowser } from "../../support/browser/browser.js";
import {
  enterToken,
  expectedTiles,
  followNewestShow,
  openNewestShow,
  openSignIn,
  readTiles,
} from "../../support/browser/dashboard.js";
import { order, view } from "../../support/events.js";
import type { SentEvent } from "../../support/oracle.js";
import { importOne, product } from "../../support/products.js";
import { readAnalytics, readKpis, recorded, saved } from "../../support/shows.js";

const { app, browser } = await openAppInBrowser({ analyticsRateLimit: 0 });

const startedAt = "2026-05-04T18:30:00.000Z";
const at = (minute: number, fields: Partial<SentEvent> = {}) => ({
  occurredAt: new Date(Date.parse(startedAt) + minute * 60_000).toISOString(),
  ...fields,
});

/** Live, replay and referral, two devices, two products. */
const events: readonly SentEvent[] = [
  view("a", at(1, { seconds: 10.26, device: "mobile" })),
  view("b", at(1, { type: "ADD_TO_CART", productId: "mug" })),
  view("c", at(2, { viewerId: "v2", seconds: 20, device: "desktop" })),
  view("d", at(2, { viewerId: "v3", seconds: 30, device: "mobile" })),
  view("e", at(50, { viewerId: "v1", channel: "REPLAY", seconds: 41.4, device: "mobile" })),
  view("f", at(50, { type: "ADD_TO_CART", viewerId: "v3", channel: "REPLAY", productId: "gone" })),
  view("g", at(51, { type: "ADD_TO_CART", viewerId: "v3", channel: "REPLAY", productId: "mug" })),
  order("h", 1_234.5, at(3)),
  order("i", 20.25, at(52, { channel: "REPLAY" })),
  order("j", 5, at(4, { channel: "REFERRAL" })),
];

/** A store with an ended show in which all of them happened. */
async function storeWithFigures() {
  const store = await createTestStore(app);
  await store.graphql(importOne, {
    product: product("mug", { title: "Blue mug", featured_image: "http://shop.example/mug.jpg" }),
  });
  const { id: lsId } = await saved(store, { name: "Evening show", startedAt });
  await recorded(store, lsId, events);
  return { store, lsId };
}

describe("the token", () => {
  test("is asked for, a wrong one is refused with a message, and it is kept in session storage only", async () => {
    const { store } = await storeWithFigures();
    const opened = await openSignIn(browser, app);
    const { page } = opened;
    await expect.poll(() => page.getByLabel("Access token").getAttribute("type")).toBe("password");
    await page.getByRole("button", { name: "Open dashboard" }).click();
    await page.getByRole("alert").filter({ hasText: "Enter your access token." }).waitFor();
    for (const [wrong, reason] of [
      ["vt_wrong", "The access token is incomplete"],
      [`vt_${"x".repeat(43)}`, "The server does not know this access token"],
    ] as const) {
      await enterToken(page, wrong);
      await page.getByRole("alert").filter({ hasText: reason }).waitFor();
    }
    await enterToken(page, ` ${store.token} `);
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
    await followNewestShow(page);
    await page.getByRole("heading", { level: 1, name: "Evening show" }).waitFor();
    expect(page.url()).not.toContain(store.token);
    expect(await page.evaluate("JSON.stringify([{ ...localStorage }, document.cookie])")).toBe('[{},""]');
    await page.reload();
    await page.getByRole("heading", { level: 1, name: "Evening show" }).waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Access token").waitFor();
    expect(await page.evaluate("sessionStorage.length")).toBe(0);
    expect(page.url(), "the show is another store's for the next token").toBe(`${app.url}/dashboard`);
    await page.reload();
    await page.getByLabel("Access token").waitFor();
    expectClean(opened, [/status of 401/u]);
    await opened.close();
  });

  test("is taken from a link, and removed from the URL at once", async () => {
    const { store, lsId } = await storeWithFigures();
    const other = await createTestStore(app);
    await saved(other, { name: "Another store's show" });
    const link = (token: string) => `${app.url}/dashboard?show=${lsId}#token=${token}`;
    const opened = await browser.open(link(store.token));
    await opened.page.getByRole("heading", { level: 1, name: "Evening show" }).waitFor();
    expect(opened.page.url()).toBe(`${app.url}/dashboard?show=${lsId}`);
    await opened.page.goto(link(other.token)); // the page stays: only what is behind # changes
    await opened.page.getByText("There is no such show.").waitFor();
    await opened.page.getByRole("link", { name: "Another store's show" }).click();
    await opened.page.getByRole("heading", { level: 1, name: "Another store's show" }).waitFor();
    expect(opened.page.url()).not.toContain("token");
    expectClean(opened);
    await opened.close();
  });

  test("of a mistyped link is refused with the reason, and its show is opened with the correct token", async () => {
    const { store, lsId } = await storeWithFigures();
    const opened = await browser.open("about:blank");
    const { page } = opened;
    for (const [wrong, reason] of [
      [store.token.slice(0, 20), "The access token is incomplete: it has 20 characters, and should have 46."],
      ["", "The link has no access token."],
    ] as const) {
      await page.goto(`${app.url}/dashboard?show=${lsId}#token=${wrong}`);
      const alert = page.getByRole("alert").filter({ hasText: reason });
      await alert.waitFor();
      expect(await alert.innerText()).not.toContain("revoked");
      expect(await page.evaluate("sessionStorage.length")).toBe(0);
      await enterToken(page, store.token);
      await page.getByRole("heading", { level: 1, name: "Evening show" }).waitFor();
      expectClean(opened, [/status of 401/u]);
      await page.evaluate("sessionStorage.clear()");
      await page.goto("about:blank"); // so that the next link is loaded, as for somebody who has no token yet
    }
    await opened.close();
  });
});

describe("the figures", () => {
  test("equal those of the API, for the show itself and in total since its start", async () => {
    const { store, lsId } = await storeWithFigures();
    const opened = await openNewestShow(browser, app, store);
    const { page } = opened;
    await page.getByRole("heading", { level: 1, name: "Evening show Ended" }).waitFor();
    const { data } = await store.graphql(readAnalytics, { lsId });
    const { kpis } = data.liveStreamAnalytics;
    await expect.poll(() => readTiles(page)).toEqual(expectedTiles(kpis));
    const { sales, viewers } = await readKpis(store, lsId);
    await expect.poll(async () => (await readTiles(page))["Sales"]?.[1]).toBe("1,259.75");
    expect([sales.total, viewers.total]).toEqual([1_259.75, 5]);

    const rows = async (name: string) => {
      const texts = await page.getByRole("region", { name, exact: true }).getByRole("row").allInnerTexts();
      return texts.map((text) => text.replaceAll("\n", ""));
    };
    await expect.poll(() => rows("Top products")).toEqual(["Product\tAdded to cart", "Blue mug\t2", "gone\t1"]);
    await expect
      .poll(() => rows("Devices"))
      .toEqual(["Device\tShare of viewers", "Mobile\t60%", "Desktop\t20%", "Unknown\t20%"]);

    await page.getByText("Show as a table").click();
    await expect
      .poll(() => rows("Timeline as a table"))
      .toEqual([
        "From\tViewers\tAdded to cart\tOrders\tSales",
        "6:31 PM UTC\t1\t1\t0\t0.00",
        "6:32 PM UTC\t2\t0\t0\t0.00",
        "6:33 PM UTC\t0\t0\t1\t1,234.50",
        "6:34 PM UTC\t0\t0\t1\t5.00",
        "7:20 PM UTC\t2\t1\t0\t0.00",
        "7:21 PM UTC\t1\t1\t0\t0.00",
        "7:22 PM UTC\t0\t0\t1\t20.25",
      ]); // all within the hour of the show
    const chart = (name: RegExp) => page.getByRole("img", { name });
    await chart(/^Viewers over time: peak 2 at 6:32 PM UTC$/u).waitFor();
    await chart(/^Sales over time: peak 1,234\.50 at 6:33 PM UTC$/u).waitFor();
    await page.clock.setFixedTime("2026-08-01T00:00:00Z"); // a chart has the last 1,500 days
    await page.getByText("Until now").click();
    await page.getByText("In steps of 1 day").waitFor();
    await expect.poll(async () => (await rows("Timeline as a table"))[1]).toMatch(/^May 4.*\t2\t3\t3\t1,259\.75$/u);
    expectClean(opened);
    await opened.close();
  });

  test("update when an event is recorded, without a reload", async () => {
    const store = await createTestStore(app);
    const { id: lsId } = await saved(store, { status: "LIVE", name: "Now", startedAt: new Date().toISOString() });
    const opened = await openNewestShow(browser, app, store);
    const { page } = opened;
    await page.getByText("Nothing has happened in this show yet.").waitFor();
    await page.evaluate("window.same = true");
    await expect.poll(async () => (await readTiles(page))["Sales"]?.[1]).toBe("0.00");
    for (const [id, total] of [
      ["1", "12.50"],
      ["2", "25.00"],
    ] as const) {
      await recorded(store, lsId, [order(id, 12.5), view(`v${id}`, { viewerId: id })]);
      await page.getByRole("article").filter({ hasText: "Sales" }).getByText(total).first().waitFor();
    }
    await page.getByRole("img", { name: /^Orders over time: peak [12] at/u }).waitFor();
    await saved(store, {
      id: lsId,
      status: "ENDED",
      name: "Now",
      startedAt: new Date().toISOString(),
      durationSeconds: 60,
    });
    await page.getByRole("heading", { level: 1, name: "Now Ended" }).waitFor();
    expect(await page.evaluate("window.same")).toBe(true);
    expectClean(opened);
    await opened.close();
  });
});

test("a server that only runs persisted operations accepts those of the dashboard", async () => {
  const { store } = await storeWithFigures();
  const folder = await mkdtemp(join(tmpdir(), "vt-persisted-"));
  const persistedOperations = join(folder, "none.json");
  await writeFile(persistedOperations, "{}");
  const strict = await startApp({ analyticsRateLimit: 0, persistedOperations, persistedOperationsOnly: true });
  const opened = await openNewestShow(browser, strict, store);
  await opened.page.getByRole("heading", { level: 1, name: "Evening show Ended" }).waitFor();
  await expect.poll(async () => (await readTiles(opened.page))["Sales"]?.[1]).toBe("1,259.75");
  expectClean(opened);
  await opened.close();
  await strict.close();
  await rm(folder, { recursive: true });
});

test("a running show says how many watch now, and its running minute has no fewer viewers", async () => {
  stopClock(); // else the minute may be over before the page asks, and the next one is without viewers
  const own = await createTestStore(app);
  const now = ago(0).getTime();
  const { id } = await saved(own, { status: "LIVE", startedAt: new Date(now - 300_000).toISOString() });
  const minute = Math.floor(now / 60_000) * 60_000;
  const seen = (minutes: number, viewerId: string) =>
    view(`${minutes} ${viewerId}`, { viewerId, occurredAt: new Date(minute + minutes * 60_000).toISOString() });
  const viewers = ["a", "b", "c", "d", "e", "f", "g"];
  const before = [-2, -1].flatMap((minutes) => viewers.map((viewerId) => seen(minutes, viewerId)));
  await recorded(own, id, [...before, seen(0, "a")]);
  const opened = await openNewestShow(browser, app, own);
  const { page } = opened;
  await page.getByText("7 watching now").waitFor();
  await page.locator("canvas").nth(3).waitFor();
  await opened.screenshot("dashboard.running");
  expectClean(opened);
  await opened.close();
});
