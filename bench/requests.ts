import type { Request } from "autocannon";
import { batchSize, makeBatch, productsStored } from "./products.js";
import type { BenchServer, RunningService } from "./server.js";

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
  return postRequest("/graphql", token, { query, variables: { productId } });
}

export function bulkRequest(token: string, products: readonly object[]): Request {
  return postRequest("/external/product/v1/bulk", token, { products });
}

export function postRequest(path: string, token: string, body: object): Request {
  return {
    method: "POST",
    path,
    headers: { "content-type": "application/json", "x-service-access-token": token },
    body: JSON.stringify(body),
  };
}

export interface Answer {
  readonly status: number;
  readonly type: string | undefined;
  readonly body: any;
}

/** Sends a request by itself; any status is an answer. */
export async function ask({ url }: Pick<RunningService, "url">, { path, ...request }: Request): Promise<Answer> {
  const response = await fetch(`${url}${path}`, request);
  const type = response.headers.get("content-type")?.split(";")[0];
  return { status: response.status, type, body: await response.json() };
}

/** Sends a request by itself; throws when it is refused. */
export async function send(service: Pick<RunningService, "url">, request: Request): Promise<void> {
  const { status, body } = await ask(service, request);
  if (status !== 200) throw new Error(`${request.path}: ${status} ${JSON.stringify(body)}`);
}

/** Fills the store's catalog through the service. */
export async function storeProducts(server: BenchServer): Promise<void> {
  for (let batch = 0; batch < productsStored / batchSize; batch += 1) {
    await send(server, bulkRequest(server.token, makeBatch(batch)));
  }
}
