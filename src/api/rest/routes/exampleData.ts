import { kpiNames, kpis, type Kpis } from "../../../figures/show/kpis.js";
import { showCells, showColumns } from "../../../figures/store/showColumns.js";
import { momentCells, momentColumns } from "../../../figures/store/momentRows.js";
import {
  exampleProduct,
  type FieldName,
  type ProductInput,
  productFieldNames,
} from "../../../files/product/product.fields.js";

/** What the documented path answers of the shirt. */
export const readProduct = pick(exampleProduct, "id", "sku", "title", "featured_image", "url");

/** A product with only the required fields. */
export const scarf: ProductInput = {
  id: "wool-scarf",
  sku: "VT-1003",
  title: "Wool scarf",
  available: true,
  featured_image: "https://shop.example/images/wool-scarf-1.jpg",
  url: "https://shop.example/products/wool-scarf",
};

/** Both products as CSV, with several images, quotes, commas and empty cells. */
export const csvExample = [exampleProduct, { ...scarf, images: [scarf.featured_image] }]
  .map((product: ProductInput) => productFieldNames.map((name) => csvCell(product[name])))
  .reduce((text, cells) => `${text}${cells.join(",")}\n`, `${productFieldNames.join(",")}\n`);

/** A list of one URL becomes the URL. */
function csvCell(value: ProductInput[FieldName]): string {
  const [first, ...others] = Array.isArray(value) ? value : [value];
  const text = others.length > 0 ? JSON.stringify(value) : String(first ?? "");
  return /[,"]/u.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export const ndjsonExample = `${JSON.stringify(exampleProduct)}\n${JSON.stringify(scarf)}\n`;

/** An ended show of the demo store. */
export const showExample = {
  id: "summer-sale",
  name: "Summer sale",
  status: "ENDED",
  startedAt: "2026-05-04T18:30:00.000Z",
  endedAt: "2026-05-04T19:15:00.000Z",
  durationSeconds: 2700,
  host: { name: "Alex Meyer", email: "alex@shop.example" },
};

/** What shoppers of a show of the demo store did. */
export const eventsExample = [
  { id: "e1", type: "VIEW", channel: "REPLAY", viewerId: "v1", device: "mobile", seconds: 40 },
  { id: "e2", type: "ADD_TO_CART", channel: "REPLAY", viewerId: "v1", productId: "linen-shirt" },
  { id: "e3", type: "ORDER", channel: "REPLAY", viewerId: "v1", amount: 59.9 },
];

/** An order of the demo store as it is sent; below, as it is answered. */
export const sentOrderExample = {
  id: "2001",
  placedAt: "2026-05-04T19:00:00.000Z",
  amount: 120.5,
  lines: [{ productId: "linen-shirt", quantity: 2, amount: 119.8 }],
};

export const orderExample = {
  ...sentOrderExample,
  refunded: 20.5,
  viewerId: null,
  isAttributed: true,
  refunds: [{ at: "2026-05-06T10:00:00.000Z", amount: 20.5, lines: [] }],
  attributions: [
    {
      show: { id: "summer-sale", name: "Summer sale" },
      channel: "LIVE",
      amount: 120.5,
      refunded: 20.5,
      rule: "LAST_SHOW",
      because: "Watched Summer sale live for 7 min until 10 min before the order.",
      evidence: { kind: "VIEW", at: "2026-05-04T18:50:00.000Z", seconds: 420, productId: null },
    },
  ],
};

export const previewExample = {
  orders: 1,
  previewed: 1,
  changes: [
    {
      show: { id: "summer-sale", name: "Summer sale" },
      before: { orders: 0, sales: 0, refunds: 0 },
      after: { orders: 1, sales: 120.5, refunds: 20.5 },
    },
  ],
};

export const ordersNdjsonExample = `${JSON.stringify(sentOrderExample)}\n`;

export const eventsNdjsonExample = eventsExample.map((event) => `${JSON.stringify(event)}\n`).join("");

/** All KPIs of that show. */
const fullKpis = Object.fromEntries(kpiNames.map((name) => [name, kpis[name].example])) as unknown as Kpis;

/** An ended show of the demo store with invented figures. Totals include the referral channel; averages are weighted by viewers. */
export const analyticsExample = {
  id: "summer-sale",
  name: "Summer sale",
  startedAt: "2026-05-04T18:30:00.000Z",
  endedAt: "2026-05-04T19:15:00.000Z",
  durationSeconds: 2700,
  host: { name: "Alex Meyer", email: "alex@shop.example" },
  kpis: {
    sales: pick(fullKpis.sales, "live", "replay", "total"),
    orders: pick(fullKpis.orders, "live", "replay", "total"),
    viewers: pick(fullKpis.viewers, "live", "replay", "total"),
    ...pick(fullKpis, "addToCart", "avgViewTime", "devices"),
  },
};

function pick<Value extends object, Name extends keyof Value>(value: Value, ...names: readonly Name[]) {
  return Object.fromEntries(names.map((name) => [name, value[name]])) as Pick<Value, Name>;
}

/** The shirt with all fields of an answer. */
export const storedShirt = {
  ...exampleProduct,
  createdAt: "2026-05-01T08:00:00.000Z",
  updatedAt: "2026-05-02T08:00:00.000Z",
};

/** For the calls that need a time range. */
export const rangeExample = { from: "2026-01-01T00:00:00Z", until: "2027-01-01T00:00:00Z" };

export const soldExample = { productId: exampleProduct.id, carts: 30, orders: 12, quantity: 13, sales: 778.7 };

export const timelineExample = { startsAt: "2026-05-04T18:30:00.000Z", viewers: 42, carts: 3, orders: 1, sales: 59.9 };

/** What happened in two minutes of that show, while the shirt was shown. */
export const intervalExample = {
  seconds: 120,
  sales: 239.6,
  netSales: 239.6,
  orders: 4,
  quantity: 4,
  addToCart: 9,
  viewersAtStart: 180,
  peakViewers: 204,
  averageViewers: 193.27,
  newViewers: 31,
  ofProduct: { sales: 119.8, orders: 2, quantity: 2, addToCart: 7, carts: 7 },
  isExact: true,
};

/** A moment as it is sent; below, as it is answered. */
export const sentMoment = {
  id: "pin-1",
  kind: "PIN" as const,
  startedAt: "2026-05-04T18:40:00.000Z",
  endedAt: "2026-05-04T18:42:00.000Z",
  productId: exampleProduct.id,
};

export const momentExample = { ...sentMoment, host: null, title: null, figures: intervalExample };

/** The numbers of viewers that make the shares above. */
const deviceTotals = [
  { channel: "LIVE", device: "mobile", viewers: 300 },
  { channel: "LIVE", device: "desktop", viewers: 80 },
  { channel: "REPLAY", device: "unknown", viewers: 20 },
] as const;

const exportedShow = {
  ...analyticsExample,
  storeId: "",
  status: "ENDED",
  startedAt: new Date(analyticsExample.startedAt),
  endedAt: new Date(analyticsExample.endedAt),
  kpis: fullKpis,
  devices: deviceTotals,
} as const;

export const showsCsvExample = `${showColumns.join(",")}\n${showCells(exportedShow, "EUR", ",").join(",")}\n`;

const exportedMoment = {
  ...momentExample,
  startedAt: new Date(sentMoment.startedAt),
  endedAt: new Date(sentMoment.endedAt),
};

export const momentsCsvExample = `${momentColumns.join(",")}\n${momentCells(showExample.id, exportedMoment, ",").join(",")}\n`;

export const fullAnalyticsExample = {
  ...showExample,
  kpis: fullKpis,
  peakConcurrentViewers: 210,
  watchingNow: null,
  devicesByChannel: [
    { channel: "LIVE", devices: fullKpis.devices },
    { channel: "REPLAY", devices: [{ device: "mobile", value: 100 }] },
  ],
};

const rankedKpis = pick(
  fullKpis,
  "sales",
  "orders",
  "viewers",
  "addToCart",
  "avgViewTime",
  "conversionRate",
  "averageOrderValue",
  "refunds",
  "netSales",
);
const storeFigures = {
  unattributed: { orders: 3, sales: 180.5, refunds: 0 },
  attribution: { rule: "LAST_SHOW", windowHours: 168, recount: null },
  currency: "EUR",
  showCount: 1,
  kpis: fullKpis,
};

export const storeAnalyticsExample = {
  from: "2026-01-01T00:00:00.000Z",
  until: "2027-01-01T00:00:00.000Z",
  ...storeFigures,
  timeline: [{ startsAt: "2026-05-04T00:00:00.000Z", orders: 45, sales: 2245.5, carts: 70 }],
  topShows: [{ ...showExample, kpis: rankedKpis }],
  previous: { from: "2025-01-01T00:00:00.000Z", until: "2026-01-01T00:00:00.000Z", ...storeFigures },
};

/** All of the show above. */
export const hostExample = {
  host: showExample.host,
  hours: 0.75,
  sales: 2245.5,
  netSales: 2195.6,
  orders: 45,
  viewers: 380,
  salesPerHour: 2994,
  netSalesPerHour: 2927.47,
  ordersPerHour: 60,
  viewersPerHour: 506.67,
};

/** A list with one item. */
export function page(node: object): object {
  const pageInfo = { hasNextPage: false, endCursor: "WyIyMDI2Il0" };
  return { nodes: [node], pageInfo, totalCount: 1, totalCountIsExact: true };
}

export const badPrice = { ...exampleProduct, price: -1 };
export const badUrl = { ...scarf, url: "javascript:alert(1)" };

export const newShow = "summer-looks";
const { id: _, endedAt: _endedAt, ...sentShow } = showExample;
export { sentShow };
