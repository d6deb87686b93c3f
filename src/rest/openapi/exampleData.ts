import type { ProductInput } from "../../catalog/product.input.js";

export const shirt: ProductInput = {
  id: "shirt-1001",
  sku: "LINEN-SHIRT-M",
  title: "Linen shirt, M",
  description: "Washed linen, shell buttons.",
  price: 49.9,
  price_min: 39.9,
  price_max: 59.9,
  available: true,
  images: ["https://shop.example/images/shirt-front.jpg", "https://shop.example/images/shirt-back.jpg"],
  featured_image: "https://shop.example/images/shirt-front.jpg",
  url: "https://shop.example/products/linen-shirt",
};

/** Just what is required. */
export const scarf: ProductInput = {
  id: "scarf-2002",
  sku: "WOOL-SCARF",
  title: "Wool scarf",
  available: false,
  featured_image: "https://shop.example/images/scarf.jpg",
  url: "https://shop.example/products/wool-scarf",
};

/** Both products as CSV: several images, quotes and commas, empty cells. */
export const csvExample = `id,sku,title,description,price,price_min,price_max,available,images,featured_image,url
shirt-1001,LINEN-SHIRT-M,"Linen shirt, M","Washed linen, shell buttons.",49.9,39.9,59.9,true,"[""https://shop.example/images/shirt-front.jpg"",""https://shop.example/images/shirt-back.jpg""]",https://shop.example/images/shirt-front.jpg,https://shop.example/products/linen-shirt
scarf-2002,WOOL-SCARF,Wool scarf,,,,,false,https://shop.example/images/scarf.jpg,https://shop.example/images/scarf.jpg,https://shop.example/products/wool-scarf
`;

/** An ended show; totals hold the referral channel too, averages are weighted by viewers. */
export const analyticsExample = {
  id: "spring-show",
  name: "Spring collection",
  startedAt: "2026-05-04T18:30:00.000Z",
  endedAt: "2026-05-04T19:30:00.000Z",
  durationSeconds: 3600,
  host: { name: "Robin Host", email: "robin@shop.example" },
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
