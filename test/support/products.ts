import { productColumns } from "../../src/files/product/product.columns.js";
import { type ProductInput, productFieldNames } from "../../src/files/product/product.fields.js";
import { chunkRowsMax } from "../../src/files/chunkRows.js";
import { documentedFields } from "../../src/api/rest/routes/routes.contract.js";
import type { Product } from "../../src/generated/prisma/client.js";
import type { TestApp, TestStore } from "./app.js";

/** A product as callers send it. */
export type Sent = Readonly<Record<string, unknown>>;

export const paths = {
  one: "/external/product/v1",
  bulk: "/external/product/v1/bulk",
  csv: "/external/product/v1/bulk/csv",
  /** Of the export as NDJSON. */
  ndjson: "/external/product/v1/bulk/ndjson",
  /** The path of a product, with its id or sku encoded once. */
  of: (productId: string) => `/external/product/v1/${encodeURIComponent(productId)}`,
};

export const importOne = `
  mutation ($product: ProductInput!, $siteId: String, $siteType: String) {
    importProduct(product: $product, siteId: $siteId, siteType: $siteType) { message imported created updated }
  }
`;

export const importMany = `
  mutation ($products: [ProductInput!]!, $siteId: String, $siteType: String) {
    importProducts(products: $products, siteId: $siteId, siteType: $siteType) { message imported created updated }
  }
`;

/** A product with the required fields alone, and what else is given. */
export function product(id: string, fields: Sent = {}) {
  return {
    id,
    sku: `sku-${id}`,
    title: `Title ${id}`,
    available: true,
    featured_image: `https://shop.example/${encodeURIComponent(id)}.jpg`,
    url: `https://shop.example/${encodeURIComponent(id)}`,
    ...fields,
  };
}

/** `count` products with the ids p00000, p00001 and so on, which sort as they are numbered. */
export function products(count: number, fields: (index: number) => Sent = () => ({})) {
  return Array.from({ length: count }, (_, index) => product(`p${String(index).padStart(5, "0")}`, fields(index)));
}

/** The rows of the shortest list that one statement does not store: an import of so many is a long one. */
export const longRows = chunkRowsMax + 1;

/** The same for the program as a process, whose chunks have up to 2,000. */
export const longRowsOfProcess = 2_100;

/** The body of a bulk import. */
export const bulk = (list: readonly object[]) => ({ products: list });

/** The fields that REST shows of a single product. */
export function documented(sent: Sent): Sent {
  const stored = readProduct(sent);
  return Object.fromEntries((documentedFields["Product"] ?? []).map((name) => [name, stored[name]]));
}

/** What an import that stored something answers over REST. */
export function importedAnswer(created: number, updated = 0) {
  const imported = created + updated;
  const message = imported === 1 ? "1 product was imported." : `${imported} products were imported.`;
  return { status: 200, type: "application/json; charset=utf-8", body: { message, imported, created, updated } };
}

type Price = "price" | "priceMin" | "priceMax";

/** A row of a product with all of its columns but its store and the times. */
export type StoredProduct = Omit<Product, "storeId" | "createdAt" | "updatedAt" | Price> &
  Readonly<Record<Price, number | null>> & { readonly sites: string[] };

/** What is stored of a field that was sent so: null or an empty list where it is missing, and 0 for -0. */
function storedValue(field: keyof ProductInput, sent: unknown): unknown {
  const value = sent ?? (productColumns[field].type === "text[]" ? [] : null);
  return typeof value === "number" ? value + 0 : value;
}

/** What is read of a product that was sent so, but for the times. */
export function readProduct(sent: Sent): Sent {
  return Object.fromEntries(productFieldNames.map((name) => [name, storedValue(name, sent[name])]));
}

/** The row of a product as it was sent, on no site. */
export function storedProduct(sent: Sent): StoredProduct {
  const columns = productFieldNames.map((field) => [productColumns[field].name, storedValue(field, sent[field])]);
  return { ...(Object.fromEntries(columns) as Omit<StoredProduct, "sites">), sites: [] };
}

/**
 * Everything that is stored of a store's products, but for its id and the times, in the order of their ids. It is read as one text
 * of JSON, which takes less than objects of Prisma.
 */
export async function storedProducts(
  { db }: Pick<TestApp, "db">,
  { id: storeId }: Pick<TestStore, "id">,
): Promise<StoredProduct[]> {
  const [{ list }] = await db.$queryRaw<[{ list: string | null }]>`
    SELECT jsonb_agg(to_jsonb(p) - ARRAY['storeId', 'createdAt', 'updatedAt', 'searchWords']
      || jsonb_build_object('sites', COALESCE(sites, '[]')) ORDER BY id)::text AS list
    FROM "Product" AS p LEFT JOIN (
      SELECT "productId", jsonb_agg("siteId" ORDER BY "siteId") AS sites
      FROM "ProductSite" WHERE "storeId" = ${storeId} GROUP BY "productId"
    ) AS sold ON "productId" = id
    WHERE "storeId" = ${storeId}`;
  return list === null ? [] : (JSON.parse(list) as StoredProduct[]);
}

/** The sites of each stored product, by its id. */
export async function storedSites(
  app: Pick<TestApp, "db">,
  store: Pick<TestStore, "id">,
): Promise<Record<string, StoredProduct["sites"]>> {
  return Object.fromEntries((await storedProducts(app, store)).map(({ id, sites }) => [id, sites]));
}

/** Ids and skus of a store's products, in the order of their ids. */
export async function storedKeys(
  { db }: Pick<TestApp, "db">,
  { id: storeId }: Pick<TestStore, "id">,
): Promise<Record<string, string>> {
  const [{ keys }] = await db.$queryRaw<[{ keys: string | null }]>`
    SELECT json_object_agg(id, sku ORDER BY id)::text AS keys FROM "Product" WHERE "storeId" = ${storeId}`;
  return keys === null ? {} : (JSON.parse(keys) as Record<string, string>);
}
