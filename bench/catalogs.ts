import { benchFiles } from "./catalogs.files.js";
import { alternate, ratios, sendAll } from "./load.js";
import { batchSize, makeBatch, makeProduct } from "./products.js";
import { bulkRequest, postRequest, send } from "./requests.js";
import { createDatabase, query, startServer } from "./server.js";
import { atLeast, atMost, plain, progress, type Row } from "./table.js";

const rounds = 5;
const products = 100_000;
const batches = 20;
const path = "/external/product/v1/bulk";

/** Modes of imports against UPSERT, each on a catalog of 100,000 products. */
export async function benchCatalogs(): Promise<Row[]> {
  const databaseUrl = await createDatabase();
  const server = await startServer({ DATABASE_URL: databaseUrl });
  const catalog = Array.from({ length: products }, (_, index) => makeProduct(index));
  /** One in a hundred is changed, and another one gone. */
  const feed = catalog
    .filter((_, index) => index % 100 !== 0)
    .map((product, index) => (index % 100 === 0 ? { ...product, price: product.price + 1 } : product));
  const fill = async () => {
    await query(databaseUrl, 'TRUNCATE "Product" CASCADE');
    await send(server, postRequest(path, server.token, { products: catalog }));
    await query(databaseUrl, 'VACUUM ANALYZE "Product"');
  };
  const timed = async (body: object) => {
    await fill();
    const start = performance.now();
    await send(server, postRequest(path, server.token, body));
    return performance.now() - start;
  };
  progress(`catalogs: ${products} products, ${rounds} rounds of REPLACE and UPSERT, then of PATCH and UPSERT`);
  const replaced = await alternate(
    rounds,
    () => timed({ products: feed, mode: "REPLACE" }),
    () => timed({ products: feed }),
  );

  const wholes = Array.from({ length: batches }, (_, batch) => makeBatch(batch).map((one) => ({ ...one, price: 9 })));
  const patches = wholes.map((list) => list.map(({ id, price }) => ({ id, price })));
  const upserts = wholes.map((list) => bulkRequest(server.token, list));
  const patched = patches.map((list) => postRequest(path, server.token, { products: list, mode: "PATCH" }));
  const rate = async (requests: typeof upserts) => {
    await fill();
    const { requestsPerSecond } = await sendAll(server, requests, 1);
    return requestsPerSecond * batchSize;
  };
  const rates = await alternate(
    rounds,
    () => rate(patched),
    () => rate(upserts),
  );
  return [
    {
      work: "REPLACE of 99,000 rows among 100,000 products, which changes 1 % and deletes 1 %: time against UPSERT",
      values: ratios(replaced, (ms) => ms),
      digits: 2,
      detail: `${plain(replaced.ours, 0, " ms")} against ${plain(replaced.floor, 0, " ms")}`,
      bound: atMost(1.2, 1),
    },
    {
      work: "PATCH of one price in batches of 1,000 among 100,000 products: products a second against UPSERT",
      values: ratios(rates, (each) => each),
      digits: 2,
      detail: `${plain(rates.ours, 0, "/s")} against ${plain(rates.floor, 0, "/s")}`,
      bound: atLeast(1, 1.5),
    },
    ...(await benchFiles()),
  ];
}
