import type { Request } from "./load.js";
import type { BenchServer, RunningService } from "./server.js";

/** A product as imports take it: quotes and commas in its texts, two images. */
export type Product = ReturnType<typeof makeProduct>;

const productsStored = 10_000;
export const batchSize = 1_000;

export function makeProduct(index: number) {
  return {
    id: `p-${index}`,
    sku: skuOf(index),
    title: `Shirt ${index}, "Summer"`,
    description: `Product ${index}: what it is made of, how to wash it.`,
    price: (index % 1_000) / 10,
    price_min: 1.5,
    price_max: 200 + (index % 10),
    available: true,
    images: [`https://cdn.example.com/${index}-1.jpg`, `https://cdn.example.com/${index}-2.jpg`],
    featured_image: `https://cdn.example.com/${index}.jpg`,
    url: `https://shop.example.com/products/${index}`,
  };
}

/** A thousand products, all different from those of other batches. */
export function makeBatch(batch: number): Product[] {
  return Array.from({ length: batchSize }, (_, index) => makeProduct(batch * batchSize + index));
}

/** Every stored product once, far from in order; each seventh by its sku. The same for every server. */
export function productReferences(): string[] {
  return Array.from({ length: productsStored }, (_, index) => {
    const product = (index * 7_919) % productsStored;
    return index % 7 === 0 ? skuOf(product) : `p-${product}`;
  });
}

/** Fills the store's catalog through the service. */
export async function storeProducts(server: BenchServer): Promise<void> {
  for (let batch = 0; batch < productsStored / batchSize; batch += 1) {
    await send(server, bulkRequest(server.token, makeBatch(batch)));
  }
}

/** Sends a request by itself; throws when it is refused. */
export async function send({ url }: RunningService, { path, ...request }: Request): Promise<void> {
  const response = await fetch(`${url}${path}`, request);
  const answer = await response.text();
  if (!response.ok) throw new Error(answer);
}

export function bulkRequest(token: string, products: readonly object[]): Request {
  return {
    method: "POST",
    path: "/external/product/v1/bulk",
    headers: { "content-type": "application/json", "x-service-access-token": token },
    body: JSON.stringify({ products }),
  };
}

export function readRequest(token: string, reference: string): Request {
  return {
    method: "GET",
    path: `/external/product/v1/${encodeURIComponent(reference)}`,
    headers: { "x-service-access-token": token },
  };
}

/** One product with all its fields. */
export function graphqlReadRequest(token: string, productId: string): Request {
  const query = `query ($productId: String!) { product(productId: $productId) {
    id sku title description price price_min price_max available images featured_image url createdAt updatedAt } }`;
  return {
    method: "POST",
    path: "/graphql",
    headers: { "content-type": "application/json", "x-service-access-token": token },
    body: JSON.stringify({ query, variables: { productId } }),
  };
}

function skuOf(index: number): string {
  return `SKU-${String(index).padStart(8, "0")}`;
}
