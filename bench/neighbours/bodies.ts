import { gzipSync } from "node:zlib";
import { makeProduct } from "../products.js";
import type { Sent } from "./send.js";

const million = 1_000_000;

export function graphqlRequest(query: string, variables: object = {}): Sent {
  return { method: "POST", path: "/graphql", body: Buffer.from(JSON.stringify({ query, variables })) };
}

function bulk(body: string): Sent {
  return { method: "POST", path: "/external/product/v1/bulk", body: Buffer.from(body) };
}

function zipped(sent: Sent): Sent {
  return sent.body === undefined ? sent : { ...sent, body: gzipSync(sent.body), gzipOf: sent.body.byteLength };
}

/** So many fields of a root type, each with an alias of its own. */
function aliased(count: number, field: string): string {
  return Array.from({ length: count }, (_, index) => `a${index}: ${field}`).join(" ");
}

/** A list of a million numbers where at most 250 addresses may stand. */
export function tooManyImages(): Sent[] {
  const product = { ...makeProduct(0), images: Array.from({ length: million }, () => 1) };
  const operation = "mutation ($product: ProductInput!) { importProduct(product: $product) { imported } }";
  const body = Buffer.from(JSON.stringify({ product }));
  return [{ method: "POST", path: "/external/product/v1", body }, graphqlRequest(operation, { product })];
}

/** Lists of nothing, longer than any import may be. */
export function emptyProducts(): Sent[] {
  const list = (count: number) => bulk(`{"products":[${Array.from({ length: count }, () => "{}").join(",")}]}`);
  return [zipped(list(million)), zipped(list(100_001))];
}

/** An honest mistake: 100,000 products, each with its price as a text. */
export function pricesAsText(): Sent[] {
  const products = Array.from({ length: 100_000 }, (_, index) => ({ ...makeProduct(index), price: "12.50" }));
  return [bulk(JSON.stringify({ products }))];
}

/** 16 MiB of opening brackets, which are some kilobytes when compressed. */
export function deepVariables(): Sent[] {
  const body = Buffer.from(`{"query":"{ __typename }","variables":${"[".repeat(16 * 1_024 * 1_024)}`);
  return [zipped({ method: "POST", path: "/graphql", body })];
}

/** Operations of megabytes that have hardly a token: comments, and one text. */
export function longOperations(): Sent[] {
  const comments = `${"#\n".repeat(4_500_000)}{ __typename }`;
  const blockString = `{ product(productId: """${"\n".repeat(3 * million)}""") { id } }`;
  return [zipped(graphqlRequest(comments)), zipped(graphqlRequest(blockString))];
}

/** Under a kilobyte that asks for 173 MB: large products, twelve times over. */
export function largeAnswers(): Sent[] {
  return [graphqlRequest(`{ ${aliased(12, "products(first: 25) { nodes { description images } }")} }`)];
}

/** One cursor of 4 MB, used 290 times. */
export function longCursors(): Sent[] {
  const operation = `query ($after: String) { ${aliased(290, "products(first: 1, after: $after) { __typename }")} }`;
  return [graphqlRequest(operation, { after: "A".repeat(4 * million) })];
}

/** 290 searches in one operation. */
export function manySearches(): Sent[] {
  return [graphqlRequest(`{ ${aliased(290, 'products(first: 1, search: "s summer") { __typename }')} }`)];
}

/** Twenty imports of one list in one operation, whose caller goes away after a second. */
export function abandonedImports(): Sent[] {
  const products = Array.from({ length: 8_000 }, (_, index) => makeProduct(index));
  const field = "importProducts(products: $products) { imported }";
  const sent = graphqlRequest(`mutation ($products: [ProductInput!]!) { ${aliased(20, field)} }`, { products });
  return [{ ...sent, leavesAfterMs: 1_000 }];
}

/** An import, as large as it may be, or smaller. */
export function csvImport(rows: number): Sent {
  const columns = ["id", "sku", "title", "price", "available", "featured_image", "url"] as const;
  const cell = (value: string | number | boolean) => `"${String(value).replaceAll('"', '""')}"`;
  const lines = Array.from({ length: rows }, (_, index) => {
    const product = makeProduct(index);
    return columns
      .map((name) => (name === "price" || name === "available" ? product[name] : cell(product[name])))
      .join(",");
  });
  const csvContent = [columns.join(","), ...lines, ""].join("\n");
  return { method: "POST", path: "/external/product/v1/bulk/csv", body: Buffer.from(JSON.stringify({ csvContent })) };
}

export function search(text: string): Sent {
  return graphqlRequest("query ($text: String!) { products(first: 20, search: $text) { nodes { id title price } } }", {
    text,
  });
}

export const rareWord = "zebra";
export const frequentWord = "summer";
