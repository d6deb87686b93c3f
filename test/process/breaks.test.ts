// @tier long
import { createConnection } from "node:net";
import { expect, test } from "vitest";
import type { OpenDatabase } from "../../src/database/open.js";
import type { TestStore } from "../support/app.js";
import { answered, breakOff } from "../support/faults/breaks.js";
import type { Kind } from "../support/faults/breaks.kinds.js";
import { type Served, serveOnEmbedded, serveOnPostgresql, storeWithKinds } from "../support/faults/breaks.store.js";
import { toCsv } from "../support/catalog/csv.js";
import { type Held, heldBy } from "../support/process/held.js";
import { type Place, type Serving } from "../support/process.js";
import { until } from "../support/until.js";
import { paths, product, products } from "../support/products.js";
import { type Random, seeded } from "../support/faults/random.js";

const breaks = 50;
const atOnce = 10;
const title =
  "connections that break at random moments give back all that their requests held, the store goes on at once, and the server ends in time";

/** Together more than an export keeps in memory; no request changes them. */
const exported = Array.from({ length: 4_000 }, (_, n) => product(`exported ${n}`, { description: "e".repeat(2_000) }));
const limits = { SHUTDOWN_GRACE_MS: "2000" };

test.concurrent(`embedded database: ${title}`, async (context) => {
  expect(await breakAll(await serveOnEmbedded(context, limits))).toEqual({ status: 0 });
});

test.concurrent(`PostgreSQL: ${title}`, async (context) => {
  expect(await breakAll(await serveOnPostgresql("breaks", context, limits))).toEqual({ status: 0 });
});

/** @returns how the server ended, and what it said of an error */
async function breakAll({ server, place, database }: Served) {
  const seed = Number(process.env["PROPERTY_SEED"] ?? Math.floor(Math.random() * 2 ** 32));
  const random = seeded(seed);
  const { store, kinds } = await storeWithKinds(server, database);
  const before = await heldBy(server, place);
  await importCsv(store, exported);
  for (const kind of kinds) {
    const broken = await breakSome(server, kind, random);
    await givenBack(server, place, database, before).catch((error: unknown) => {
      throw new Error(`${kind.name}, seed ${seed}: ${String(error)}\n${broken.join("\n")}`);
    });
  }
  await importCsv(
    store,
    products(300, () => ({ description: "f".repeat(1_000) })),
  );
  expect((await (await store.fetch(paths.csv)).text()).length).toBeGreaterThan(5_000_000);
  await database.close();
  process.stdout.write(
    `${database.engine.kind}: ${breaks} connections of each of ${kinds.length} kinds broken (seed ${seed})\n`,
  );
  return endOf(server, kinds);
}

async function importCsv(store: TestStore, list: readonly object[]): Promise<void> {
  const headers = { "content-type": "text/csv" };
  const answer = await store.fetch(paths.csv, { method: "POST", headers, body: toCsv(list as typeof exported) });
  expect(await answer.text()).toContain(`${list.length} products were imported.`);
}

/** @returns at what moments, and how */
async function breakSome({ url }: Serving, { name, make, isStream = false }: Kind, random: Random): Promise<string[]> {
  const whole = await answered(url, make(0), isStream);
  expect([200, 202], `${name}: ${whole.text}`).toContain(whole.status);
  const broken: string[] = [];
  const lanes = Array.from({ length: Math.min(atOnce, breaks) }, async (_, lane) => {
    const own = random.fork();
    for (let n = lane; n < breaks; n += atOnce) broken.push(await breakOff(url, make(1 + n), whole, own));
  });
  await Promise.all(lanes);
  return broken;
}

/** Waits until nothing is held that was not before: at most as long as a request waits for a place, or an import for its end. */
async function givenBack(server: Serving, place: Place, { client }: OpenDatabase, before: Held): Promise<void> {
  let left: object = {};
  const isIdle = async (): Promise<boolean> => {
    const { series, open, named, threads } = await heldBy(server, place);
    const staged = (await client.stagedImport.count()) + (await client.stagedProduct.count());
    left = { series, open, named, threads, staged };
    expect(threads).toBeLessThan(before.threads + 20); // as many as there are places, and one for bodies
    const isBefore = JSON.stringify([series, named]) === JSON.stringify([before.series, before.named]);
    return isBefore && open.length === 0 && staged === 0;
  };
  await until(isIdle, "all to be given back", 60_000).catch((error: unknown) => {
    throw new Error(`${String(error)} Left: ${JSON.stringify(left)}`);
  });
}

/** Stops the server while requests of all kinds arrive, are worked on, or are answered. */
async function endOf(server: Serving, kinds: readonly Kind[]) {
  const { hostname, port } = new URL(server.url);
  const sockets = kinds.map(({ make }, index) => {
    const { head, body } = make(-1);
    const socket = createConnection({ host: hostname, port: Number(port) });
    socket.on("error", () => undefined);
    socket.write(head);
    socket.write(index % 2 === 0 ? body : body.subarray(0, body.length / 2));
    return socket;
  });
  await until(() => sockets.every(({ connecting }) => !connecting), "all to be connected");
  const { status, stderr } = await server.stop();
  for (const socket of sockets) socket.destroy();
  const error = /.*(?:garbage collection|Warning|request failed|operation failed).*/u.exec(stderr)?.[0];
  return { status, ...(error !== undefined && { error }) };
}
