import type { BrowserContextOptions, Page } from "playwright-core";
import type { TestApp, TestStore } from "../app.js";
import type { TestBrowser, TestPage } from "./browser.js";
import { until } from "../until.js";

/** What tests expect of numbers and times must not depend on where they run. */
const place = { locale: "en-US", timezoneId: "UTC" };

/** Opens the dashboard, which asks for the token. */
export function openSignIn(browser: TestBrowser, { url }: Pick<TestApp, "url">, options: BrowserContextOptions = {}) {
  return browser.open(`${url}/dashboard`, { ...place, ...options });
}

/** Opens the dashboard with the store's token. */
export async function openDashboard(
  browser: TestBrowser,
  app: Pick<TestApp, "url">,
  store: Pick<TestStore, "token">,
  options: BrowserContextOptions = {},
): Promise<TestPage> {
  const opened = await openSignIn(browser, app, options);
  await enterToken(opened.page, store.token);
  await opened.page.getByRole("button", { name: "Sign out" }).waitFor();
  return opened;
}

/** Opens the dashboard and, there, the store's newest live show, or else its newest. */
export async function openNewestShow(...parameters: Parameters<typeof openDashboard>): Promise<TestPage> {
  const opened = await openDashboard(...parameters);
  await followNewestShow(opened.page);
  return opened;
}

/** As the list of shows does, which small screens hide. */
export async function followNewestShow(page: Page): Promise<void> {
  const links = page.locator("#shows li a");
  await links.first().waitFor({ state: "attached" });
  const live = links.filter({ has: page.locator(".badge.live") });
  const newest = ((await live.count()) > 0 ? live : links).first();
  const show = new URLSearchParams((await newest.getAttribute("href")) ?? "").get("show");
  const isOpen = () => new URL(page.url()).searchParams.get("show") === show;
  const follow = async () => {
    if (!isOpen()) await newest.dispatchEvent("click"); // again where the list was drawn anew meanwhile
    return isOpen();
  };
  await until(follow, "the newest show to be opened");
}

export async function enterToken(page: Page, token: string): Promise<void> {
  await page.getByLabel("Access token").fill(token);
  await page.getByRole("button", { name: "Open dashboard" }).click();
}

/** The tiles as they can be read: `{ Sales: ["total", "12.50", "Live", "12.50", …] }`. */
export async function readTiles(page: Page): Promise<Record<string, string[]>> {
  const texts = await page.getByRole("article").allInnerTexts();
  return Object.fromEntries(
    texts.map((text) => {
      const [name = "", ...rest] = text.split("\n").filter((line) => line !== "");
      return [name, rest];
    }),
  );
}

const count = new Intl.NumberFormat("en-US");
const amount = new Intl.NumberFormat("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 });

/** How amounts are written, in the store's currency if it has one. */
export function moneyFormat(currency: string | null): (value: number) => string {
  const money = new Intl.NumberFormat("en-US", currency === null ? {} : { style: "currency", currency });
  return (value) => (currency === null ? amount : money).format(value);
}

/** What the tiles must say, worked out from what GraphQL answers; view times are of seconds below a minute. */
export function expectedTiles(kpis: any): Record<string, string[]> {
  const { sales, refunds, netSales, orders, viewers, addToCart, avgViewTime } = kpis;
  const referral = (sum: { live: number; replay: number; total: number }) => sum.total - sum.live - sum.replay;
  const percent = (value: number) => `${value}%`;
  const seconds = (value: number) => `${Math.round(value * 10) / 10} sec`;
  const by = (format: (value: number) => string, { live, replay }: { live: number; replay: number }) => [
    "Live",
    format(live),
    "Replay",
    format(replay),
  ];
  const averages = (format: (value: number) => string, { live, replay }: { live: number; replay: number }) => [
    "Live",
    viewers.live === 0 ? "–" : format(live),
    "Replay",
    viewers.replay === 0 ? "–" : format(replay),
  ];
  const ofViewers = (text: string) => (viewers.total === 0 ? "–" : text);
  const [counted, paid] = [(value: number) => count.format(value), moneyFormat(sales.currency)];
  return {
    Sales: ["total", paid(sales.total), ...by(paid, sales), "Referral", paid(referral(sales))],
    ...(refunds.total > 0 && { "Net sales": ["total", paid(netSales.total), "Refunds", paid(refunds.total)] }),
    Orders: ["total", counted(orders.total), ...by(counted, orders), "Referral", counted(referral(orders))],
    Viewers: [
      "total",
      counted(viewers.total),
      ...by(counted, viewers),
      "Unique",
      counted(viewers.unique),
      "3 seconds or more",
      counted(kpis.engagedViewers.unique),
    ],
    "Add to cart": ["of viewers", ofViewers(percent(addToCart.avg)), ...averages(percent, addToCart)],
    "View time": ["average", ofViewers(seconds(avgViewTime.avg)), ...averages(seconds, avgViewTime)],
    Conversion: [
      "orders per 100 viewers",
      ofViewers(String(kpis.conversionRate)),
      "Buyers",
      counted(kpis.buyers.unique),
      "Per 100 viewers",
      ofViewers(String(kpis.buyerRate.total)),
      "Average order",
      orders.total === 0 ? "–" : paid(kpis.averageOrderValue),
    ],
  };
}
