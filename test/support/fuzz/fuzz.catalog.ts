import { addSite } from "../../../src/stores/site.js";
import { createTestStore, type TestApp, type TestStore } from "../app.js";
import { type Sent, bulk, paths, product, storedProduct, type StoredProduct, storedProducts } from "../products.js";

/** What a store's catalog must hold, by what was sent and accepted. */
export class Catalog {
  #products = new Map<string, StoredProduct>();

  /** Takes over products that were accepted. Gives how many of them are new. */
  import(sent: readonly Sent[], siteId: unknown): { created: number; updated: number } {
    const updated = sent.filter(({ id }) => this.#products.has(String(id))).length;
    for (const one of sent) {
      const expected = storedProduct(one);
      const sites = this.#products.get(expected.id)?.sites ?? [];
      const all = new Set([...sites, ...(typeof siteId === "string" && siteId !== "" ? [siteId] : [])]);
      this.#products.set(expected.id, { ...expected, sites: [...all].toSorted() });
    }
    return { created: sent.length - updated, updated };
  }

  /** By id, or else by sku, as far as the product is sold on the site. */
  find(productId: string, siteId?: string): StoredProduct | undefined {
    const sold = this.rows.filter(({ sites }) => !siteId || sites.length === 0 || sites.includes(siteId));
    return sold.find(({ id }) => id === productId) ?? sold.find(({ sku }) => sku === productId);
  }

  delete(id: string): void {
    this.#products.delete(id);
  }

  /** All products, in the order in which `storedRows` gives them. */
  get rows(): readonly StoredProduct[] {
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

/** A store with a site. */
export async function storeWithSite(app: TestApp): Promise<TestStore> {
  const store = await createTestStore(app);
  await addSite(app.db, store.id, "web", "shop");
  return store;
}

/** Gives such a store two products, of which one is sold on the site alone, in place of all that it has. */
export async function catalogOf(app: TestApp, store: TestStore): Promise<Catalog> {
  await app.db.product.deleteMany({ where: { storeId: store.id } });
  const catalog = new Catalog();
  for (const [siteId, list] of Object.entries({
    "": [product("a", { price: 1 })],
    web: [product("b", { sku: "c" })],
  })) {
    await store.post(paths.bulk, { ...bulk(list), siteId });
    catalog.import(list, siteId);
  }
  return catalog;
}
