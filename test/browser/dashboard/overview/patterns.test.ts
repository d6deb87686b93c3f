// @tier all
import { expect, test } from "vitest";
import { setStore } from "../../../../src/stores/store.js";
import { ago } from "../../../support/clock.js";
import { createTestStore } from "../../../support/app.js";
import { expectAccessible, expectClean, openAppInBrowser } from "../../../support/browser/browser.js";
import { openNewestShow } from "../../../support/browser/dashboard.js";
import { order, view } from "../../../support/events.js";
import { linkOf, place, rowsOf, watchOperation } from "../../../support/browser/overview.js";
import { importMany, product } from "../../../support/products.js";
import { addShows, recorded, saved } from "../../../support/shows.js";

const { app, browser } = await openAppInBrowser({ analyticsRateLimit: 0 });
const link = linkOf(app);
const range = "from=2026-05-01&until=2026-05-14";

/** Shows of two hosts on two evenings of Berlin: on Friday twice. */
async function storeWithHosts() {
  const store = await createTestStore(app);
  await setStore(app.db, store.id, { currency: "EUR", timeZone: "Europe/Berlin" });
  const hosts = { alex: { name: "Alex", email: "a@shop.example" }, sam: { name: "سامي", email: "s@shop.example" } };
  for (const [id, startedAt, host, amount] of [
    ["one", "2026-05-01T18:00:00.000Z", hosts.alex, 100],
    ["two", "2026-05-08T18:30:00.000Z", hosts.sam, 300],
    ["three", "2026-05-05T09:00:00.000Z", hosts.alex, 50],
  ] as const) {
    await saved(store, { id, name: id, startedAt, host, durationSeconds: 600 });
    await recorded(store, id, [
      order("o", amount, { occurredAt: startedAt }),
      { ...order("r", 10, { occurredAt: startedAt }), type: "REFUND" },
      view("v", { occurredAt: startedAt }),
      view("w", { occurredAt: startedAt, viewerId: "w" }),
    ]);
  }
  return store;
}

test("shows are added up by host, weekday and hour of the store, and over time by their start", async () => {
  const store = await storeWithHosts();
  const opened = await browser.open(link(`?${range}`, store), place);
  const { page } = opened;
  const table = page.getByRole("region", { name: "Groups of shows" });
  await table.waitFor();
  const choose = (legend: string, name: string) =>
    page.getByRole("group", { name: legend }).getByText(name, { exact: true }).click();
  await expect
    .poll(() => rowsOf(table))
    .toEqual([
      ["سامي", "1", "€290.00", "€290.00", "1", "2"],
      ["Alex", "2", "€130.00", "€65.00", "2", "2"],
    ]);
  await choose("Shows by", "Weekday");
  await page.getByRole("heading", { name: "Shows by weekday of their start" }).waitFor();
  await expect
    .poll(() => rowsOf(table))
    .toEqual([
      ["Tuesday", "1", "€40.00", "€40.00", "1", "2"],
      ["Friday", "2", "€380.00", "€190.00", "2", "2"],
    ]);
  await expectAccessible(opened);
  await table.evaluate((element: any) => element.scrollIntoView());
  await opened.screenshot("patterns.weekday");
  await choose("Shows by", "Hour");
  await expect
    .poll(async () => (await rowsOf(table)).map(([hour, shows]) => [hour, shows]))
    .toEqual([
      ["11:00 AM", "1"],
      ["8:00 PM", "2"],
    ]);
  await expect.poll(() => new URL(page.url()).search).toBe(`?${range}&by=hour`);

  await choose("Figure of the chart", "Net sales");
  await page.getByRole("img", { name: "Net sales over time: peak €290.00 on Fri, May 8" }).waitFor();
  await choose("Figure of the chart", "Viewers");
  await page.getByRole("img", { name: "Viewers over time: peak 2 on Fri, May 1" }).waitFor();
  await page.getByText("Show as a table").click();
  const rows = page.getByRole("region", { name: "Figures of shows by their start as a table" });
  await expect
    .poll(() => rowsOf(rows))
    .toEqual([
      ["Fri, May 1", "€90.00", "2"],
      ["Tue, May 5", "€40.00", "2"],
      ["Fri, May 8", "€290.00", "2"],
    ]);
  await page.evaluate("scrollTo(0, 0)");
  await opened.screenshot("patterns.viewers");
  expectClean(opened);
  await opened.close();
});

test("of more than 500 shows the latest are added up, which is said", async () => {
  const store = await createTestStore(app);
  const newest = new Date("2026-05-13T20:00:00Z");
  await addShows(app, store, { count: 620, name: "'Show ' || n", newest, apartSeconds: 600 });
  const opened = await browser.open(link(`?${range}`, store), place);
  const table = opened.page.getByRole("region", { name: "Groups of shows" });
  await opened.page.getByText("Of the latest 500 shows.").waitFor();
  await expect
    .poll(async () => (await rowsOf(table)).map(([host, shows]) => [host, shows]))
    .toEqual([["Without a host", "500"]]);
  expectClean(opened);
  await opened.close();
});

test("this month is compared with the month before, until the same day and time of day", async () => {
  const store = await storeWithHosts();
  const opened = await browser.open(link("", store), place);
  const { page } = opened;
  const before = watchOperation(page, "TotalsBefore");
  const now = watchOperation(page, "StoreFigures");
  await page.getByText("This month", { exact: true }).click();
  await page.getByText(/, compared with /u).waitFor();
  await expect.poll(() => before.sent.length).toBe(1);
  await expect.poll(() => new URL(page.url()).search).toBe("?days=month");
  const berlin = (iso: string, options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat("en-GB", { timeZone: "Europe/Berlin", ...options }).format(new Date(iso));
  const [month, other] = [now.last(), before.last()];
  for (const { from } of [month, other]) {
    expect(berlin(from, { day: "numeric", hour: "numeric", minute: "numeric" })).toMatch(/^1\D+00:00$/u);
  }
  const monthOf = (iso: string) => new Date(Date.parse(iso) + 86_400_000).getUTCMonth();
  expect((monthOf(other.from) + 1) % 12).toBe(monthOf(month.from));
  expect(Date.parse(other.until)).toBeLessThanOrEqual(Date.parse(month.from));
  await opened.screenshot("patterns.month");
  expectClean(opened);
  await opened.close();
});

test("the products of a running show are ordered by carts, orders or sales, by a switch", async () => {
  const store = await createTestStore(app);
  await setStore(app.db, store.id, { currency: "EUR" });
  const featured_image = "http://shop.example/picture.jpg"; // pages load none over HTTP
  await store.graphql(importMany, { products: ["mug", "pan"].map((id) => product(id, { title: id, featured_image })) });
  const { id } = await saved(store, { status: "LIVE", startedAt: ago(60_000).toISOString() });
  const cart = (key: string, productId: string) => view(key, { type: "ADD_TO_CART", productId });
  await recorded(store, id, [
    cart("1", "mug"),
    cart("2", "mug"),
    cart("3", "pan"),
    order("4", 50, { productId: "pan" }),
  ]);
  const opened = await openNewestShow(browser, app, store);
  const { page } = opened;
  const card = page.getByRole("region", { name: "Top products" });
  await expect
    .poll(() => rowsOf(card))
    .toEqual([
      ["mug", "2"],
      ["pan", "1"],
    ]);
  await card.getByText("Sales", { exact: true }).first().click();
  await expect.poll(async () => (await rowsOf(card))[0]).toEqual(["pan", "€50.00"]);
  await recorded(store, id, [order("5", 80, { productId: "mug" })]);
  await expect
    .poll(() => rowsOf(card))
    .toEqual([
      ["mug", "€80.00"],
      ["pan", "€50.00"],
    ]);
  await card.getByText("Orders", { exact: true }).first().click();
  await expect
    .poll(() => rowsOf(card))
    .toEqual([
      ["mug", "1"],
      ["pan", "1"],
    ]);
  await card.scrollIntoViewIfNeeded();
  await opened.screenshot("patterns.products");
  expectClean(opened);
  await opened.close();
});
