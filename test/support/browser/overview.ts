import { expect } from "vitest";
import type { Locator, Page, Request } from "playwright-core";
import { ago } from "../clock.js";
import { createTestStore, type TestApp, type TestStore } from "../app.js";
import { moneyFormat } from "./dashboard.js";
import { order, view } from "../events.js";
import { importMany, product } from "../products.js";
import { kpiFields, recorded, saved } from "../shows.js";

const dayMs = 86_400_000;

/** Where the people are who look. */
export const place = { locale: "en-US", timezoneId: "UTC" };

/** Addresses of the dashboard for those who have the token of a store. */
export function linkOf({ url }: Pick<TestApp, "url">) {
  return (query: string, { token }: Pick<TestStore, "token">) => `${url}/dashboard${query}#token=${token}`;
}

/** A show that started so many days ago, a little before now. */
const daysAgo = (days: number) => ago(days * dayMs + 7_200_000).toISOString();

/** Pages load none over HTTP. */
const featured_image = "http://shop.example/mug.jpg";

/** A store in euros with shows over 60 days, the later the more sales, and what was paid back. */
export async function storeWithHistory(app: TestApp): Promise<TestStore> {
  const store = await createTestStore(app);
  await app.db.store.update({ where: { id: store.id }, data: { currency: "EUR" } });
  await store.graphql(importMany, {
    products: [product("mug", { title: "Blue mug", featured_image }), product("pan", { featured_image })],
  });
  for (const [index, days] of [2, 5, 12, 20, 31, 40, 55].entries()) {
    const startedAt = daysAgo(days);
    const at = (minute: number) => new Date(Date.parse(startedAt) + minute * 60_000).toISOString();
    const { id } = await saved(store, {
      id: `show-${index}`,
      name: `Show ${index}`,
      startedAt,
      durationSeconds: 1_800,
    });
    const viewers = Array.from({ length: 10 + index }, (_, number) => `v${number}`);
    await recorded(store, id, [
      ...viewers.map((viewerId) => view(`view ${viewerId}`, { viewerId, seconds: 20 + index, occurredAt: at(1) })),
      view("cart", { type: "ADD_TO_CART", productId: index % 2 === 0 ? "mug" : "gone", occurredAt: at(2) }),
      order("order", 1_000.5 - index * 100, { occurredAt: at(3), productId: index % 3 === 0 ? "mug" : "pan" }),
      order("more", 20.25, { occurredAt: at(4), channel: "REFERRAL", productId: "gone" }),
      { ...order("refund", 10.75, { occurredAt: at(5), productId: "mug" }), type: "REFUND" },
    ]);
  }
  return store;
}

/** Everything of the overview that `storeAnalytics` has. */
export const readStoreFigures = `
  query ($from: DateTime!, $until: DateTime!, $timeZone: String!, $bucket: StoreBucket!) {
    storeAnalytics(from: $from, until: $until, timeZone: $timeZone) {
      currency showCount kpis { ${kpiFields} } timeline(bucket: $bucket) { startsAt sales orders carts }
      previous { from until showCount kpis { ${kpiFields} } }
    }
  }
`;

export const readShowTable = `
  query (
    $first: Int!, $after: String, $search: String, $from: DateTime!, $until: DateTime!,
    $orderBy: LiveStreamOrder!, $direction: SortDirection!
  ) {
    liveStreams(
      first: $first, after: $after, search: $search, from: $from, until: $until, orderBy: $orderBy, direction: $direction
    ) {
      nodes {
        name startedAt
        kpis { sales { total } netSales { total } orders { total } viewers { total } addToCart { avg } avgViewTime { avg } }
      }
    }
  }
`;

export const readBestProducts = `
  query ($from: DateTime!, $until: DateTime!, $orderBy: ProductPerformanceOrder!) {
    productPerformance(from: $from, until: $until, first: 10, orderBy: $orderBy) {
      nodes { productId product { title } sales orders quantity carts shows }
    }
  }
`;

/** The cells of a table's body, without those that are empty. */
export async function rowsOf(region: Locator): Promise<string[][]> {
  const texts = await region.locator("tbody tr").allInnerTexts();
  return texts.map((text) =>
    text
      .split("\t")
      .map((cell) => cell.trim())
      .filter((cell) => cell !== ""),
  );
}

interface SentOperation {
  readonly query: string;
  readonly variables: any;
}

function operationOf(request: Request): SentOperation | undefined {
  return (request.postDataJSON() ?? undefined) as SentOperation | undefined;
}

/** The variables with which a page sends an operation from now on: those of the last call. */
export function watchOperation(page: Page, name: string) {
  const sent: any[] = [];
  page.on("request", (request) => {
    const operation = operationOf(request);
    if (operation?.query.includes(`query ${name}(`) === true) sent.push(operation.variables);
  });
  return { sent, last: () => sent.at(-1) };
}

/** The variables of the next call of an operation, once it is answered and shown. */
export async function answered(page: Page, name: string, act: () => Promise<void>): Promise<any> {
  const response = page.waitForResponse((one) => operationOf(one.request())?.query.includes(`query ${name}(`) === true);
  await act();
  const variables = operationOf((await response).request())?.variables;
  await expect.poll(() => page.locator("[aria-busy=true]").count()).toBe(0);
  return variables;
}

const number = new Intl.NumberFormat("en-US");
const count = (value: number) => number.format(value);
const percent = new Intl.NumberFormat("en-US", { style: "percent", maximumFractionDigits: 1 });

/** What the tiles must say, from what GraphQL answers; view times are of seconds below a minute. */
export function expectedOverviewTiles(figures: any): Record<string, string[]> {
  const { currency, previous } = figures;
  const money = moneyFormat(currency);
  const rate = (value: number) => `${value}%`;
  const seconds = (value: number) => `${Math.round(value * 10) / 10} sec`;
  const tile = (of: string, read: (totals: any) => number, format: (value: number) => string) => {
    const [now, before] = [read(figures), read(previous)];
    return [of, format(now), ...changeOf(now, before, format)].filter((text) => text !== "");
  };
  const hasRefunds = figures.kpis.refunds.total + previous.kpis.refunds.total > 0;
  const net = tile(`${money(figures.kpis.refunds.total)} refunded`, ({ kpis }) => kpis.netSales.total, money);
  return {
    Sales: tile("total", ({ kpis }) => kpis.sales.total, money),
    ...(hasRefunds ? { "Net sales": net } : { "Average order": tile("", ({ kpis }) => kpis.averageOrderValue, money) }),
    Orders: tile("total", ({ kpis }) => kpis.orders.total, count),
    Viewers: tile("of all shows", ({ kpis }) => kpis.viewers.total, count),
    "Add to cart": tile("of viewers", ({ kpis }) => kpis.addToCart.avg, rate),
    "View time": tile("average", ({ kpis }) => kpis.avgViewTime.avg, seconds),
    Conversion: tile("per 100 viewers", ({ kpis }) => kpis.conversionRate, String),
    Shows: tile("started", ({ showCount }) => showCount, count),
  };
}

function changeOf(now: number, before: number, format: (value: number) => string): string[] {
  if (before === 0 && now > 0) return ["none before"]; // here, averages are of something both times
  if (now === before) return ["= ", "unchanged", `from ${format(before)}`];
  const by = percent.format(Math.abs((now - before) / before));
  return [...(now > before ? ["▲ ", "up"] : ["▼ ", "down"]), `${by} from ${format(before)}`];
}
