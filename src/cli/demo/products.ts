import type { ProductInput } from "../../files/product/product.fields.js";
import type { RootDatabase } from "../../database/client.js";
import { picturePath } from "../../server/pages/demo/pictures.js";

export const currency = "EUR";

export const demoProducts: readonly Omit<ProductInput, "featured_image">[] = [
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
  url: `https://shop.example/products/${String(id)}`,
}));

export const demoProductIds = demoProducts.map(({ id }) => id);

const pictureUrl = (url: string, id: string): string => `${url}${picturePath(id)}`;

/** The products, with pictures that this server hosts. @param url of the server, with its path */
export function pictured(url: string): ProductInput[] {
  return demoProducts.map((product) => ({ ...product, featured_image: pictureUrl(url, product.id) }));
}

/** Updates picture URLs: the server's address may have changed, and older versions used a host that does not exist. */
export async function movePictures(db: RootDatabase, storeId: string, url: string): Promise<void> {
  const known = await db.product.findMany({
    where: { storeId, id: { in: demoProductIds } },
    select: { id: true, featuredImage: true },
  });
  for (const { id, featuredImage } of known) {
    const isOurs = featuredImage.endsWith(picturePath(id)) || featuredImage.startsWith("https://shop.example/images/");
    const moved = pictureUrl(url, id);
    if (!isOurs || featuredImage === moved) continue;
    await db.product.update({ where: { storeId_id: { storeId, id } }, data: { featuredImage: moved } });
  }
}
