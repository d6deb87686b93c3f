import { showColumns } from "../../../analytics/insights/showColumns.js";
import type { ProductInput } from "../../../catalog/product.input.js";

/** A product of the demo store, with all fields. */
export const shirt: ProductInput = {
  id: "linen-shirt",
  sku: "VT-1001",
  title: "Linen shirt",
  description: "Washed linen, shell buttons.",
  price: 59.9,
  price_min: 49.9,
  price_max: 69.9,
  available: true,
  images: ["https://shop.example/images/linen-shirt-1.jpg", "https://shop.example/images/linen-shirt-2.jpg"],
  featured_image: "https://shop.example/images/linen-shirt-1.jpg",
  url: "https://shop.example/products/linen-shirt",
};

/** Another one, with just what is required. */
export const scarf: ProductInput = {
  id: "wool-scarf",
  sku: "VT-1003",
  title: "Wool scarf",
  available: true,
  featured_image: "https://shop.example/images/wool-scarf-1.jpg",
  url: "https://shop.example/products/wool-scarf",
};

/** Both products as CSV: several images, quotes and commas, empty cells. */
export const csvExample = `id,sku,title,description,price,price_min,price_max,available,images,featured_image,url
linen-shirt,VT-1001,Linen shirt,"Washed linen, shell buttons.",59.9,49.9,69.9,true,"[""https://shop.example/images/linen-shirt-1.jpg"",""https://shop.example/images/linen-shirt-2.jpg""]",https://shop.example/images/linen-shirt-1.jpg,https://shop.example/products/linen-shirt
wool-scarf,VT-1003,Wool scarf,,,,,true,https://shop.example/images/wool-scarf-1.jpg,https://shop.example/images/wool-scarf-1.jpg,https://shop.example/products/wool-scarf
`;

export const ndjsonExample = `${JSON.stringify(shirt)}\n${JSON.stringify(scarf)}\n`;

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

export const eventsNdjsonExample = eventsExample.map((event) => `${JSON.stringify(event)}\n`).join("");

/** An ended show of the demo store, with other figures; totals hold the referral channel too, averages are weighted by viewers. */
export const analyticsExample = {
  id: "summer-sale",
  name: "Summer sale",
  startedAt: "2026-05-04T18:30:00.000Z",
  endedAt: "2026-05-04T19:15:00.000Z",
  durationSeconds: 2700,
  host: { name: "Alex Meyer", email: "alex@shop.example" },
  kpis: {
    sales: { live: 1497, replay: 499, total: 2245.5 },
    orders: { live: 30, replay: 10, total: 45 },
    viewers: { live: 300, replay: 100, total: 400 },
    addToCart: { live: 20, replay: 10, avg: 17.5 },
    avgViewTime: { live: 600, replay: 200, avg: 500 },
    devices: [
      { device: "mobile", value: 75 },
      { device: "desktop", value: 20 },
      { device: "unknown", value: 5 },
    ],
  },
};

export const showsCsvExample = [
  showColumns.join(","),
  [
    `"summer-sale","Summer sale",ENDED,${analyticsExample.startedAt},${analyticsExample.endedAt},2700,EUR`,
    "1497,499,249.5,2245.5,30,10,5,45,300,100,400,380,20,10,17.5,600,200,500,11.84,49.9",
    "0,0,49.9,49.9,1497,499,199.6,2195.6,75,0,20,0,5",
  ].join(","),
  "",
].join("\n");

/** The shirt with all fields that are read. */
export const storedShirt = { ...shirt, createdAt: "2026-05-01T08:00:00.000Z", updatedAt: "2026-05-02T08:00:00.000Z" };

/** For the calls that need a time range. */
export const rangeExample = { from: "2026-01-01T00:00:00Z", until: "2027-01-01T00:00:00Z" };

export const soldExample = { productId: shirt.id, carts: 30, orders: 12, quantity: 13, sales: 778.7 };

export const timelineExample = { startsAt: "2026-05-04T18:30:00.000Z", viewers: 42, carts: 3, orders: 1, sales: 59.9 };

const { sales, orders, viewers, addToCart, avgViewTime, devices } = analyticsExample.kpis;
const inEuros = { currency: "EUR" };

/** All KPIs of the same show. */
const fullKpis = {
  sales: { ...sales, referral: 249.5, ...inEuros },
  orders: { ...orders, referral: 5 },
  viewers: { ...viewers, unique: 380 },
  addToCart,
  avgViewTime,
  devices,
  conversionRate: 11.84,
  refunds: { live: 0, replay: 0, referral: 49.9, total: 49.9, ...inEuros },
  netSales: { live: 1497, replay: 499, referral: 199.6, total: 2195.6, ...inEuros },
  averageOrderValue: 49.9,
};

export const fullAnalyticsExample = {
  ...showExample,
  kpis: fullKpis,
  peakConcurrentViewers: 210,
  devicesByChannel: [
    { channel: "LIVE", devices },
    { channel: "REPLAY", devices: [{ device: "mobile", value: 100 }] },
  ],
};

const { devices: _, ...rankedKpis } = fullKpis;
const storeFigures = { ...inEuros, showCount: 1, kpis: fullKpis };

export const storeAnalyticsExample = {
  from: "2026-01-01T00:00:00.000Z",
  until: "2027-01-01T00:00:00.000Z",
  ...storeFigures,
  timeline: [{ startsAt: "2026-05-04T00:00:00.000Z", orders: 45, sales: 2245.5, carts: 70 }],
  topShows: [{ ...showExample, kpis: rankedKpis }],
  previous: { from: "2025-01-01T00:00:00.000Z", until: "2026-01-01T00:00:00.000Z", ...storeFigures },
};
