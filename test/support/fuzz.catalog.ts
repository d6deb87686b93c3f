import { addSite } from "../../src/access/site.js";
import { createTestStore, type TestApp, type TestStore } from "./app.js";
import { type Sent, bulk, paths, product, storedProducts } from "./products.js";

/** A product as it must be stored. */
interface Expected {
  readonly id: string;
  readonly sku: string;
  readonly title: string;
  readonly featuredImage: string;
  readonly url: string;
  readonly sites: readonly string[];
  readonly [field: string]: unknown;
}

/** What a store's catalog must hold, by what was sent and accepted. */
export class Catalog {
  #products = new Map<string, Expected>();

  /** Takes over products that were accepted. Gives how many of them are new. */
  import(sent: readonly Sent[], siteId: unknown): { created: number; updated: number } {
    const updated = sent.filter(({ id }) => this.#products.has(String(id))).length;
    for (const one of sent) {
      const expected = expectedOf(one);
      const sites = this.#products.get(expected.id)?.sites ?? [];
      const all = new Set([...sites, ...(typeof siteId === "string" && siteId !== "" ? [siteId] : [])]);
      this.#products.set(expected.id, { ...expected, sites: [...all].toSorted() });
    }
    return { created: sent.length - updated, updated };
  }

  /** By id, or else by sku, as far as the product is sold on the site. */
  find(productId: string, siteId?: string): Expected | undefined {
    const sold = this.sold(siteId);
    return sold.find(({ id }) => id === productId) ?? sold.find(({ sku }) => sku === productId);
  }

  /** Those that are sold on a site, or all without one, as `rows`. */
  sold(siteId?: string): readonly Expected[] {
    return this.rows.filter(({ sites }) => !siteId || sites.length === 0 || sites.includes(siteId));
  }

  delete(id: string): void {
    this.#products.delete(id);
  }

  /** All products, in the order in which `storedRows` gives them. */
  get rows(): readonly Expected[] {
    return inOrder([...this.#products.values()]);
  }
}

/** What is really stored. */
export async function storedRows(app: TestApp, store: TestStore): Promise<readonly object[]> {
  return inOrder(await storedProducts(app, store));
}

function inOrder<Row extends { readonly id: string }>(rows: readonly Row[]): readonly Row[] {
  return rows.toSorted((one, other) => Buffer.compare(Buffer.from(one.id), Buffer.from(other.id)));
}

/** -0 is stored as 0. */
function expectedOf(sent: Sent): Expected {
  const price = (name: string) => (typeof sent[name] === "number" ? sent[name] + 0 : null);
  return {
    id: String(sent["id"]),
    sku: String(sent["sku"]),
    title: String(sent["title"]),
    description: sent["description"] ?? null,
    price: price("price"),
    priceMin: price("price_min"),
    priceMax: price("price_max"),
    available: sent["available"],
    images: sent["images"] ?? [],
    featuredImage: String(sent["featured_image"]),
    url: String(sent["url"]),
    sites: [],
  };
}

/** A store with a site, and two products of which one is sold there alone. */
export async function storeWithCatalog(app: TestApp): Promise<{ store: TestStore; catalog: Catalog }> {
  const store = await createTestStore(app);
  await addSite(app.db, store.id, "web", "shop");
  const catalog = new Catalog();
  for (const [siteId, list] of Object.entries({
    "": [product("a", { price: 1 })],
    web: [product("b", { sku: "c" })],
  })) {
    await store.post(paths.bulk, { ...bulk(list), siteId });
    catalog.import(list, siteId);
  }
  return { store, catalog };
}
