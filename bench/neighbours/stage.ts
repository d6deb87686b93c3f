import { setTimeout as sleep } from "node:timers/promises";
import { makeBatch, makeProduct } from "../products.js";
import { bulkRequest, send } from "../requests.js";
import { addStore, commandEnvironment, type Database, graphql, query, type RunningService, serve } from "../server.js";
import { progress } from "../table.js";
import type { Target } from "./attacks.js";
import { frequentWord, rareWord } from "./bodies.js";
import { type Neighbour, startNeighbour } from "./neighbour.js";
import { daysShow, devicesShow, largeShow, quietShow } from "./shows.js";

/** A server with a store that only reads, and one that attacks. */
export interface Stage {
  readonly database: Database;
  readonly neighbour: Neighbour;
  server: RunningService;
  /** The attacker's store, at the server as it is now. */
  readonly target: () => Target;
}

const warmUpMs = Number(process.env["BENCH_WARM_UP_MS"] ?? 5_000);
const neighbourShow = "show";
const dayMs = 86_400_000;

export async function setStage(database: Database): Promise<Stage> {
  const server = await serve(database);
  const [reader, attacker] = [await addStore(database), await addStore(database)];
  const products = makeBatch(0);
  await send(server, bulkRequest(reader.token, products));
  await saveShow({ url: server.url, token: reader.token }, neighbourShow, 3_600_000);
  await record({ url: server.url, token: reader.token }, neighbourShow, 1_000, (index) => ({ viewerId: `v${index}` }));
  const ids = products.map(({ id }) => id);
  const neighbour = startNeighbour({ url: server.url, token: reader.token, products: ids, show: neighbourShow });
  await neighbour.during(() => sleep(warmUpMs)); // code is compiled, connections are made
  neighbour.pause(true);
  const stage: Stage = {
    database,
    neighbour,
    server,
    target: () => ({ ...attacker, url: stage.server.url, environment: commandEnvironment(database) }),
  };
  return stage;
}

/** Stores what an attack needs of the attacker's own. What is refused is left out: a limit that holds is no failure. */
export async function prepare({ target, database }: Stage, parts: ReadonlySet<string>): Promise<void> {
  const needs = (...names: string[]) => names.some((name) => parts.has(name));
  const own = target();
  if (needs("8", "10", "17", "search")) await storeCatalog(own, "DATABASE_URL" in database ? 100 : 20);
  if (needs("6")) await storeLargeProducts(own);
  for (const lsId of [largeShow, devicesShow, quietShow]) await saveShow(own, lsId, dayMs);
  if (needs("11", "14") && "DATABASE_URL" in database) await storeEvents(own.store, database.DATABASE_URL);
  if (needs("12")) await storeDays(own);
  if (needs("13")) await storeDevices(own);
  if ("DATABASE_URL" in database) {
    await query(database.DATABASE_URL, "VACUUM ANALYZE");
    await query(database.DATABASE_URL, "CHECKPOINT"); // it would come while something is measured
  }
}

/** A hundred thousand products, and one that has the rare word. */
async function storeCatalog({ url, token }: Target, batches: number): Promise<void> {
  progress(`  ${batches},000 products`);
  const rare = { ...makeProduct(0), id: rareWord, sku: rareWord, title: `Shirt, ${frequentWord}, ${rareWord}` };
  await send({ url }, bulkRequest(token, [rare]));
  for (let batch = 0; batch < batches; batch += 1) await send({ url }, bulkRequest(token, makeBatch(batch)));
}

/** Products as large as they may be, 0.57 MB each; they come first in every list. */
async function storeLargeProducts({ url, token }: Target): Promise<void> {
  progress("  large products");
  for (let index = 10; index < 35; index += 1) {
    const images = Array.from({ length: 250 }, (_, image) => `https://cdn.example.com/${image}/${"i".repeat(1_980)}`);
    const ids = { id: `0-${index}`, sku: `LARGE-${index}` };
    const product = { ...makeProduct(index), ...ids, description: "d".repeat(65_535), images };
    await send({ url }, bulkRequest(token, [product])).catch(progressOf);
  }
}

/** 600,000 events, inserted directly into the database, which takes less time. Totals are for the rebuild to find. */
async function storeEvents(store: string, databaseUrl: string): Promise<void> {
  progress("  600,000 events");
  await query(
    databaseUrl,
    `INSERT INTO "ShowEvent" ("storeId", show, id, type, channel, "viewerId", device, source, value, "productId", "occurredAt",
       "acceptedAt", position, "orderId", lines)
     SELECT $1, (SELECT number FROM "LiveStream" WHERE "storeId" = $1 AND id = $2), convert_to(lpad(i::text, 9, '0'), 'UTF8'),
       (ARRAY[1,1,1,2,3])[1 + i % 5], (ARRAY[1,1,2])[1 + i % 3], convert_to('v' || i % 200000, 'UTF8'), 'mobile', '',
       CASE WHEN i % 5 = 4 THEN (i % 300) + 0.99 ELSE i % 100 END, 'p' || i % 50, now() - (i % 7200) * interval '1 second', now(),
       i % 10000, '', ''
     FROM generate_series(1, 600000) AS i`,
    [store, largeShow],
  );
}

/** Something in each minute of thirty days, sixteen times: totals are kept in as many slots. */
async function storeDays(own: Target): Promise<void> {
  progress("  691,200 events in 30 days");
  const start = Date.now() - 30 * dayMs;
  await saveShow(own, daysShow, 30 * dayMs);
  await inParallel(16 * 5, 4, (batch) =>
    record(own, daysShow, 8_640, (index) => ({
      viewerId: `v${batch}`,
      occurredAt: new Date(start + ((batch % 5) * 8_640 + index) * 60_000).toISOString(),
    })),
  );
}

async function storeDevices(own: Target): Promise<void> {
  progress("  300,000 devices");
  await inParallel(30, 4, (batch) =>
    record(own, devicesShow, 10_000, (index) => ({
      viewerId: `v${batch}-${index}`,
      device: `device ${batch}-${index}`,
    })),
  );
}

async function saveShow(server: Pick<Target, "url" | "token">, id: string, ageMs: number): Promise<void> {
  const liveStream = { id, name: id, status: "LIVE", startedAt: new Date(Date.now() - ageMs).toISOString() };
  await graphql(server, "mutation ($s: LiveStreamInput!) { saveLiveStream(liveStream: $s) { id } }", { s: liveStream });
}

async function record(
  server: Pick<Target, "url" | "token">,
  lsId: string,
  count: number,
  more: (index: number) => object,
): Promise<void> {
  const operation =
    "mutation ($lsId: String!, $events: [ShopperEventInput!]!) { recordShopperEvents(lsId: $lsId, events: $events) { accepted } }";
  const events = Array.from({ length: count }, (_, index) => ({
    id: `${lsId} ${Math.random()} ${index}`,
    type: "VIEW",
    channel: "LIVE",
    ...more(index),
  }));
  await graphql(server, operation, { lsId, events }).catch(progressOf);
}

async function inParallel(count: number, callers: number, work: (number: number) => Promise<void>): Promise<void> {
  let next = 0;
  const repeat = async () => {
    for (let number = next++; number < count; number = next++) await work(number);
  };
  await Promise.all(Array.from({ length: callers }, repeat));
}

function progressOf(error: unknown): void {
  progress(`  not stored: ${String(error).slice(0, 200)}`);
}
