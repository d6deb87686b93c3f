import * as fc from "fast-check";
import { expect, test } from "vitest";
import { addSite } from "../../src/stores/site.js";
import { createTestStore, openTestApp, type TestStore } from "../support/app.js";
import { product } from "../support/products.js";

const app = await openTestApp();

const list = `query ($by: ProductOrder!, $way: SortDirection, $search: String, $available: Boolean, $priceMin: Float, $priceMax: Float,
  $siteId: String, $ids: [ID!], $first: Int, $after: String) {
  products(orderBy: $by, direction: $way, search: $search, available: $available, priceMin: $priceMin, priceMax: $priceMax,
    siteId: $siteId, ids: $ids, first: $first, after: $after) {
    nodes { id updatedAt } pageInfo { hasNextPage endCursor } totalCount totalCountIsExact
  }
}`;

const someProduct = fc.record({
  title: fc.constantFrom("shirt", "Shirt", "Écharpe", "zebra shirt", "x".repeat(300)),
  price: fc.option(fc.constantFrom<number>(0, 9.99, 1e300, 1e-9)),
  available: fc.boolean(),
  site: fc.constantFrom(null, "de", "fr"),
});
type SomeProduct = typeof someProduct extends fc.Arbitrary<infer Value> ? Value : never;
const filter = fc.record({
  search: fc.constantFrom(null, "shir", "unknown"),
  available: fc.option(fc.boolean()),
  priceMin: fc.constantFrom(null, 0, 9.99),
  priceMax: fc.constantFrom(null, 9.99),
  siteId: fc.constantFrom(null, "de"),
  ids: fc.option(fc.array(fc.constantFrom("p0", "p1", "p2", "p5", "unknown"), { maxLength: 6 })),
});
type Filter = typeof filter extends fc.Arbitrary<infer Value> ? Value : never;

interface Known extends SomeProduct {
  readonly id: string;
  readonly updatedAt: string;
}

const bytes = (text: string) => Buffer.from(text).toString("hex");
const folded = (title: string) => title.replaceAll(/[A-Z]/gu, (letter) => letter.toLowerCase()).slice(0, 200);
const values = {
  ID: ({ id }: Known) => id,
  TITLE: ({ title }: Known) => bytes(folded(title)),
  PRICE: ({ price }: Known) => price ?? 0,
  UPDATED_AT: ({ updatedAt }: Known) => updatedAt,
} as const;
type Order = keyof typeof values;

async function storeOf(some: readonly SomeProduct[]): Promise<{ store: TestStore; products: Known[] }> {
  const store = await createTestStore(app);
  for (const site of ["de", "fr"]) await addSite(app.db, store.id, site, "SHOP");
  const sent = some.map(({ title, price, available }, n) => product(`p${n}`, { title, price, available }));
  const write =
    "mutation ($p: [ProductInput!]!, $site: String) { importProducts(products: $p, siteId: $site) { message } }";
  for (const site of [null, "de", "fr"]) {
    const own = sent.filter((_, n) => some[n]?.site === site);
    if (own.length > 0) await store.graphql(write, { p: own, site });
  }
  const { data } = await store.graphql(list, { by: "ID", first: 100 });
  const stored: { id: string; updatedAt: string }[] = data.products.nodes;
  const products = some.map((one, n) => {
    const id = `p${n}`;
    return { ...one, id, updatedAt: stored.find((known) => known.id === id)?.updatedAt ?? "" };
  });
  return { store, products };
}

function expected(products: readonly Known[], by: Order, way: string | null, filters: Filter): string[] {
  const sign = (way ?? (by === "ID" || by === "TITLE" ? "ASC" : "DESC")) === "ASC" ? 1 : -1;
  const { search, available, priceMin, priceMax, siteId, ids } = filters;
  const value = values[by];
  return products
    .filter(
      ({ title, price, ...own }) =>
        (ids === null || new Set<string>(ids).has(own.id)) &&
        (search === null || title.toLowerCase().includes(search)) &&
        (available === null || own.available === available) &&
        (priceMin === null || (price !== null && price >= priceMin)) &&
        (priceMax === null || (price !== null && price <= priceMax)) &&
        (siteId === null || own.site === null || own.site === siteId),
    )
    .toSorted((a, b) => {
      const isLast = (one: Known) => by === "PRICE" && one.price === null;
      if (isLast(a) !== isLast(b)) return isLast(a) ? 1 : -1;
      return sign * (value(a) === value(b) ? (a.id < b.id ? -1 : 1) : value(a) < value(b) ? -1 : 1);
    })
    .map(({ id }) => id);
}

async function walk(store: TestStore, variables: object): Promise<{ ids: string[]; counts: unknown[] }> {
  const [ids, counts]: [string[], Set<unknown>] = [[], new Set()];
  let after: string | null = null;
  for (;;) {
    const { data, errors } = await store.graphql(list, { ...variables, after });
    expect(errors).toBeUndefined();
    const page: any = data.products;
    ids.push(...page.nodes.map(({ id }: { id: string }) => id));
    counts.add(page.totalCount).add(page.totalCountIsExact);
    if (!page.pageInfo.hasNextPage) return { ids, counts: [...counts] };
    after = page.pageInfo.endCursor;
  }
}

test("every order, direction and filter lists each product once, on pages of any size", async () => {
  const property = fc.asyncProperty(
    fc.array(someProduct, { maxLength: 6 }),
    filter,
    fc.constantFrom(null, "ASC", "DESC"),
    fc.integer({ min: 1, max: 3 }),
    async (some, filters, way, first) => {
      const { store, products } = await storeOf(some);
      for (const by of Object.keys(values) as Order[]) {
        const ids = expected(products, by, way, filters);
        expect(await walk(store, { ...filters, by, way, first })).toEqual({ ids, counts: [ids.length, true] });
      }
    },
  );
  await fc.assert(property);
});

test("a cursor of one order is refused in another", async () => {
  const { store } = await storeOf(
    [1, 2].map((price) => ({ title: "shirt" as const, price, available: true, site: null })),
  );
  const orders = (["ID", "TITLE", "PRICE", "UPDATED_AT"] as const).flatMap((by) => [
    { by, way: "ASC" },
    { by, way: "DESC" },
  ]);
  for (const own of orders) {
    const { data } = await store.graphql(list, { ...own, first: 1 });
    const after = data.products.pageInfo.endCursor;
    for (const other of orders) {
      const { errors } = await store.graphql(list, { ...other, after });
      const problems = errors?.map(({ extensions }) => [extensions.errors[0].code, extensions.errors[0].path]);
      expect(problems).toEqual(own === other ? undefined : [["VALIDATION_FAILED", ["after"]]]);
    }
  }
});

test("an unknown site is refused", async () => {
  const store = await createTestStore(app);
  const { errors } = await store.graphql(list, { by: "ID", siteId: "nowhere" });
  expect(errors?.map(({ extensions }) => extensions.code)).toEqual(["SITE_NOT_FOUND"]);
});
