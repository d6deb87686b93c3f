import { recordEvents } from "../analytics/events.record.js";
import { saveLiveStream } from "../analytics/liveStream.save.js";
import { addSite } from "../access/site.js";
import { createStore } from "../access/store.js";
import { hashSecret, issueToken } from "../access/token.js";
import { importProducts } from "../catalog/product.import.js";
import type { ProductInput } from "../catalog/product.input.js";
import type { RootDatabase } from "../database/client.js";
import { shopperVisits } from "./demo.shoppers.js";

/** The demo store, and its token as far as it is known. */
export interface Demo {
  readonly store: string;
  readonly token: string | undefined;
  readonly productId: string;
}

export const demoStore = "demo";
const store = demoStore;
const productId = "linen-shirt";
export const runningShow = "autumn-looks";
const endedShow = "summer-sale";

/**
 * Makes the demo store on a database without any store, or where a token is chosen for it, and its token. A chosen token
 * works from then on; another one is random, and known only now.
 *
 * @returns undefined where there are stores, but no demo store
 */
export async function prepareDemo(db: RootDatabase, chosenToken: string | undefined): Promise<Demo | undefined> {
  const exists = (await db.store.findUnique({ where: { id: store } })) !== null;
  const isNew = !exists && (chosenToken !== undefined || (await db.store.count()) === 0);
  if (isNew) {
    await createStore(db, store, "Demo store");
    await addSite(db, store, "demo-shop", "SHOP");
    await importProducts(db, store, demoProducts);
    await addDemoShows(db);
  } else if (!exists) return undefined;
  return { store, token: await demoToken(db, isNew, chosenToken), productId };
}

/** A running and an ended show, both visited already. */
async function addDemoShows(db: RootDatabase): Promise<void> {
  const host = { name: "Alex Meyer", email: "alex@shop.example" };
  const runningSince = new Date(Date.now() - 20 * 60_000);
  const endedSince = new Date(Date.now() - 7 * 86_400_000);
  await saveLiveStream(db, store, {
    id: runningShow,
    name: "Autumn looks",
    status: "LIVE",
    startedAt: runningSince,
    host,
  });
  await saveLiveStream(db, store, {
    id: endedShow,
    name: "Summer sale",
    status: "ENDED",
    startedAt: endedSince,
    durationSeconds: 45 * 60,
    host,
  });
  const productIds = demoProductIds;
  await recordEvents(
    db,
    store,
    runningShow,
    shopperVisits({ productIds, from: runningSince, minutes: 20, visits: 150 }),
  );
  await recordEvents(db, store, endedShow, shopperVisits({ productIds, from: endedSince, minutes: 45, visits: 400 }));
}

async function demoToken(db: RootDatabase, isNew: boolean, chosen: string | undefined): Promise<string | undefined> {
  if (chosen === undefined) return isNew ? (await issueToken(db, store, { label: "demo" })).token : undefined;
  const known = await db.accessToken.findUnique({ where: { hash: hashSecret(chosen) } });
  if (known === null) await issueToken(db, store, { label: "demo", secret: chosen });
  return chosen;
}

const demoProducts: readonly ProductInput[] = [
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
