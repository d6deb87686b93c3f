// @tier all
import { beforeAll, describe, expect, test } from "vitest";
import { issueToken } from "../../../../src/stores/token.js";
import { ago } from "../../../support/clock.js";
import { createTestStore, type TestStore } from "../../../support/app.js";
import { expectAccessible, expectClean, openAppInBrowser } from "../../../support/browser/browser.js";
import {
  answered,
  linkOf,
  place,
  readBestProducts,
  readShowTable,
  rowsOf,
  storeWithHistory,
} from "../../../support/browser/overview.js";
import { addShows } from "../../../support/shows.js";

const { app, browser } = await openAppInBrowser({ analyticsRateLimit: 0 });
const link = linkOf(app);

let store: TestStore;
beforeAll(async () => {
  store = await storeWithHistory(app);
});

const money = new Intl.NumberFormat("en-US", { style: "currency", currency: "EUR" });
const moment = new Intl.DateTimeFormat("en-US", {
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "numeric",
  minute: "2-digit",
  timeZoneName: "short",
  timeZone: "UTC",
});

const cellsOf = ({ name, startedAt, kpis }: any) => [
  name,
  moment.format(new Date(startedAt)),
  money.format(kpis.sales.total),
  money.format(kpis.netSales.total),
  String(kpis.orders.total),
  String(kpis.viewers.total),
  `${kpis.addToCart.avg}%`,
  `${kpis.avgViewTime.avg} sec`,
];

describe("the table of shows", () => {
  test("equals the API's in every order, which is in the URL; a click opens the show, and going back the table", async () => {
    const opened = await browser.open(link("?days=90", store), place);
    const { page } = opened;
    const region = page.getByRole("region", { name: "Shows", exact: true });
    const sort = (name: string) => region.getByRole("button", { name, exact: true }).click();
    const sorted = (name: string) => region.getByRole("columnheader", { name, exact: true }).getAttribute("aria-sort");
    await region.waitFor();
    await expect.poll(() => sorted("Start")).toBe("descending");
    for (const [column, search, direction] of [
      ["Sales", "?days=90&order=sales", "descending"],
      ["Sales", "?days=90&order=sales&reverse=1", "ascending"],
      ["Orders", "?days=90&order=orders", "descending"],
      ["Viewers", "?days=90&order=viewers", "descending"],
      ["Show", "?days=90&order=name", "ascending"],
    ] as const) {
      const variables = await answered(page, "ShowTable", () => sort(column));
      await expect.poll(() => new URL(page.url()).search).toBe(search);
      await expect.poll(() => sorted(column)).toBe(direction);
      const { data, errors } = await store.graphql(readShowTable, variables);
      expect(errors).toBeUndefined();
      expect(data.liveStreams.nodes).toHaveLength(7);
      await expect.poll(() => rowsOf(region)).toEqual(data.liveStreams.nodes.map(cellsOf));
    }
    await expect.poll(async () => (await rowsOf(region)).map(([name]) => name)[0]).toBe("Show 0");
    await page.getByText("1–7 of 7").waitFor();
    await region.getByRole("link", { name: "Show 3" }).click();
    await page.getByRole("heading", { level: 1, name: "Show 3 Ended" }).waitFor();
    await expect
      .poll(() => page.evaluate("document.activeElement.id"), { message: "the focus is in the new view" })
      .toBe("show");
    await page.goBack();
    await region.waitFor();
    await expect.poll(() => new URL(page.url()).search).toBe("?days=90&order=name");
    await region.getByRole("link", { name: "Show 3" }).click();
    await page.getByRole("link", { name: "‹ Overview" }).click();
    await region.waitFor();
    await expect.poll(() => new URL(page.url()).search).toBe("?days=90&order=name");
    expectClean(opened);
    await opened.close();
  });

  test("of 100 shows is read by pages and searched by the server; a shared URL shows the same page", async () => {
    const large = await createTestStore(app);
    await addShows(app, large, {
      count: 100,
      name: "'Show number ' || lpad(n::text, 4, '0')",
      newest: ago(60_000),
      apartSeconds: 900,
    });
    const opened = await browser.open(link("?days=90&order=name", large), place);
    const { page } = opened;
    const region = page.getByRole("region", { name: "Shows", exact: true });
    const names = async () => (await rowsOf(region)).map(([name]) => name);
    await page.getByText("1–20 of 100").waitFor();
    await expect.poll(() => names()).toHaveLength(20);
    let release = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    await page.route("**/graphql", (route) => released.then(() => route.continue()));
    await page.getByRole("button", { name: "Next" }).dblclick();
    await expect.poll(() => new URL(page.url()).search).toMatch(/&page=2$/u);
    await page.getByText("1–20 of 100").waitFor();
    expect((await names())[0], "until the next page arrives").toBe("Show number 0000");
    release();
    await page.getByText("21–40 of 100").waitFor();
    await expect.poll(async () => (await names())[0]).toBe("Show number 0020");
    await page.unroute("**/graphql");
    await page.getByRole("button", { name: "Next" }).press("Enter");
    await page.getByText("41–60 of 100").waitFor();
    await expect.poll(async () => (await names())[0]).toBe("Show number 0040");
    const shared = await browser.open(link(new URL(page.url()).search, large), place);
    await shared.page.getByText("41–60 of 100").waitFor();
    await expect
      .poll(() => rowsOf(shared.page.getByRole("region", { name: "Shows", exact: true })))
      .toEqual(await rowsOf(region));
    await shared.page.getByRole("button", { name: "First page" }).click();
    await shared.page.getByText("1–20 of 100").waitFor();
    await shared.close();
    await page.getByRole("button", { name: "Previous" }).click();
    await page.getByText("21–40 of 100").waitFor();
    await page.goBack();
    await page.getByText("41–60 of 100").waitFor();
    await page.getByLabel("Search in these shows").fill("number 0087");
    await page.getByText("1–1 of 1").waitFor();
    await expect.poll(() => names()).toEqual(["Show number 0087"]);
    await expect.poll(() => new URL(page.url()).search).toBe("?days=90&order=name&search=number+0087");
    await page.getByLabel("Search in these shows").fill("none of these");
    await page.getByText("No such show in this time.").waitFor();
    await expectAccessible(opened);
    expectClean(opened);
    await page.goto(link("?order=sales&after=mistyped&page=9", large));
    await page.getByText("1–20 of ").waitFor();
    await expect.poll(() => new URL(page.url()).search).toBe("?order=sales");
    await opened.close();
  });
});

test("the best products equal the API's in every order, with titles if the token may read them", async () => {
  const opened = await browser.open(link("?days=90", store), place);
  const { page } = opened;
  const region = page.getByRole("region", { name: "Products", exact: true });
  await region.waitFor();
  for (const column of ["Orders", "Quantity", "Added to cart", "Shows", "Sales"]) {
    const sort = () => region.getByRole("button", { name: column, exact: true }).click();
    const variables = await answered(page, "BestProducts", sort);
    const { data } = await store.graphql(readBestProducts, variables);
    const { nodes } = data.productPerformance;
    expect(nodes).toHaveLength(3);
    await expect
      .poll(() => rowsOf(region))
      .toEqual(
        nodes.map(({ productId, product, sales, orders, quantity, carts, shows }: any) => [
          product?.title ?? productId,
          money.format(sales),
          ...[orders, quantity, carts, shows].map(String),
        ]),
      );
  }
  await region.getByText("Blue mug").waitFor();
  expectClean(opened);
  await opened.close();

  const reader = await issueToken(app.db, store.id, { scopes: ["analytics:read"] });
  const reading = await browser.open(link("?days=90", reader), place);
  await reading.page.getByText("For titles and images, the access token needs the scope catalog:read.").waitFor();
  await reading.page.getByRole("rowheader", { name: "mug" }).waitFor();
  await expect.poll(() => reading.page.getByText("Blue mug").count()).toBe(0);
  expectClean(reading);
  await reading.close();
});

test("two shows are compared side by side by keyboard, with the figures of the API", async () => {
  const opened = await browser.open(link("?days=90", store), place);
  const { page } = opened;
  await page.getByLabel("Compare Show 1").press("Space");
  await page.getByText("Choose another show to compare.").waitFor();
  await page.getByLabel("Compare Show 4").press("Space");
  await expect.poll(() => page.getByLabel("Compare Show 2").isDisabled()).toBe(true);
  await expect.poll(() => new URL(page.url()).search).toBe("?days=90&pick=show-1&pick=show-4");
  await page.getByRole("link", { name: "Compare 2 shows" }).press("Enter");
  await page.getByRole("heading", { level: 1, name: "Comparison" }).waitFor();
  await expect.poll(() => new URL(page.url()).search).toBe("?compare=show-1&compare=show-4");
  await page.reload();
  const table = page.getByRole("region", { name: "Key figures of both shows" });
  await table.waitFor();
  const { data } = await store.graphql(`{
    one: liveStreamAnalytics(lsId: "show-1") { kpis { sales { total } netSales { total } viewers { unique } } }
    other: liveStreamAnalytics(lsId: "show-4") { kpis { sales { total } netSales { total } viewers { unique } } }
  }`);
  const [one, other] = [data.one.kpis, data.other.kpis];
  const rows = new Map((await rowsOf(table)).map(([name = "", ...cells]) => [name, cells]));
  expect(rows.get("Sales")?.slice(0, 2)).toEqual([money.format(one.sales.total), money.format(other.sales.total)]);
  expect(rows.get("Net sales")?.slice(0, 2)).toEqual([
    money.format(one.netSales.total),
    money.format(other.netSales.total),
  ]);
  expect(rows.get("Unique viewers")?.slice(0, 2)).toEqual([String(one.viewers.unique), String(other.viewers.unique)]);
  expect(rows.get("Sales")?.[2]).toMatch(/^▼ \s*down\s*\d+(\.\d)?%$/u);
  await expectAccessible(opened);
  await opened.screenshot("overview.comparison");
  expectClean(opened);
  await page.goBack();
  await page.getByLabel("Compare Show 4").waitFor();
  await page.goto(link("?compare=show-1&compare=gone", store));
  await page.getByRole("alert").filter({ hasText: "There is no such show" }).waitFor();
  await opened.close();
});
