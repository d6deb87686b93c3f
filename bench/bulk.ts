import { deepStrictEqual } from "node:assert/strict";
import { createFloorTable, emptyCatalogs } from "./floor.table.js";
import { alternate, ratios, sendAll } from "./load.js";
import { batchSize, makeBatch } from "./products.js";
import { ask, bulkRequest } from "./requests.js";
import { createDatabase, query, type RunningService, startFloor, startServer } from "./server.js";
import { atLeast, plain, progress, type Row } from "./table.js";

const rounds = 5;
const connections = 4;
const batches = 40;

/** Bulk JSON of 1,000 products, each sent as new and again as a replacement, against one upsert behind Fastify. */
export async function benchBulk(): Promise<Row[]> {
  const databaseUrl = await createDatabase();
  const server = await startServer({ DATABASE_URL: databaseUrl });
  await query(databaseUrl, createFloorTable);
  const floor = await startFloor(databaseUrl);
  await checkImports(databaseUrl, server, floor, server.token);

  const fresh = Array.from({ length: batches }, (_, batch) => makeBatch(batch));
  const changed = fresh.map((products) => products.map((product) => ({ ...product, price: product.price + 1 })));
  const requests = [...fresh, ...changed].map((products) => bulkRequest(server.token, products));
  progress(`bulk: ${requests.length} requests of ${batchSize} products in each of ${rounds} rounds`);
  const importAll = async (service: RunningService) => {
    await query(databaseUrl, emptyCatalogs);
    const { requestsPerSecond } = await sendAll(service, requests, connections);
    return requestsPerSecond * batchSize;
  };
  const found = await alternate(
    rounds,
    () => importAll(server),
    () => importAll(floor),
  );
  return [
    {
      work: `bulk JSON of 1,000 products, ${connections} connections: products a second against one unnest upsert behind Fastify`,
      values: ratios(found, (rate) => rate),
      digits: 2,
      detail: `${plain(found.ours, 0, "/s")} against ${plain(found.floor, 0, "/s")}`,
      bound: atLeast(0.6, 0.9),
    },
  ];
}

/** Both must answer the same and store the same. @throws {AssertionError} where they do not */
async function checkImports(
  databaseUrl: string,
  server: RunningService,
  floor: RunningService,
  token: string,
): Promise<void> {
  const batch = makeBatch(0);
  const first = batch.slice(0, 1);
  const incomplete = first.map((product) => ({ ...product, url: undefined }));
  const illTyped = first.map((product) => ({ ...product, available: "true" }));
  const sent: object[][] = [first, batch, incomplete, illTyped];
  for (const products of sent) {
    const request = bulkRequest(token, products);
    const [ours, theirs] = [await ask(server, request), await ask(floor, request)];
    if (ours.status === 200) deepStrictEqual(ours, theirs);
    else deepStrictEqual(ours.status, theirs.status); // each names problems in its own way
  }
  const columns = "id, sku, title, description, price, available, url";
  const [ours] = await query(
    databaseUrl,
    `SELECT json_agg(json_build_array(${columns}, "priceMin", "priceMax", "featuredImage", to_json(images)) ORDER BY id) FROM "Product"`,
  );
  const [theirs] = await query(
    databaseUrl,
    `SELECT json_agg(json_build_array(${columns}, price_min, price_max, featured_image, images::json) ORDER BY id) FROM floor`,
  );
  deepStrictEqual(ours, theirs);
}
