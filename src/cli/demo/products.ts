import type { ProductInput } from "../../catalog/product.input.js";

export const currency = "EUR";

export const demoProducts: readonly ProductInput[] = [
  ["linen-shirt", "Linen shirt", 59.9],
  ["denim-jacket", "Denim jacket", 119],
  ["wool-scarf", "Wool scarf", 34.5],
  ["leather-belt", "Leather belt", 45],
  ["canvas-sneakers", "Canvas sneakers", 79.95],
  ["silk-dress", "Silk dress", 189],
  ["rain-coat", "Rain coat", 149],
  ["cotton-socks", "Cotton socks, three pairs", 14.9],
  ["straw-hat", "Straw hat", 39],
  ["tote-bag", "Tote bag", 29],
  ["sunglasses", "Sunglasses", 99],
  ["knit-sweater", "Knit sweater", 89.9],
].map(([id, title, price], index) => ({
  id: String(id),
  sku: `VT-${1001 + index}`,
  title: String(title),
  description: `${String(title)} of the demo store.`,
  price: Number(price),
  available: index !== 8,
  images: [`https://shop.example/images/${String(id)}-1.jpg`, `https://shop.example/images/${String(id)}-2.jpg`],
  featured_image: `https://shop.example/images/${String(id)}-1.jpg`,
  url: `https://shop.example/products/${String(id)}`,
}));

export const demoProductIds = demoProducts.map(({ id }) => id);
