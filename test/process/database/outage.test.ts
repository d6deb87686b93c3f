// @engine postgresql
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { connect } from "../../../src/database/open.js";
import { createTestStore, type TestStore } from "../../support/app.js";
import { type Cluster, createCluster } from "../../support/process/cluster.js";
import { readiness } from "../../support/faults/confirmed.js";
import { type Call, calls, waysOf } from "../../support/faults/outage.js";
import { endOf, serve, type Serving, start } from "../../support/process.js";
import { bulk, longRowsOfProcess, paths, products } from "../../support/products.js";
import { saved } from "../../support/shows.js";

let cluster: Cluster;
let server: Serving;
let store: TestStore;
let all: readonly Call[];

beforeAll(async () => {
  cluster = await createCluster();
  await cluster.start();
  return () => cluster.remove();
});
beforeAll(async () => {
  const env = { DATABASE_URL: cluster.url, DATABASE_POOL_MAX: "4", ANALYTICS_RATE_LIMIT: "0", LOG_LEVEL: "error" };
  server = await serve({ ...env, WEB_CONCURRENCY: "2", SHUTDOWN_GRACE_MS: "1000" });
  const database = connect({ connectionString: cluster.url, max: 1 }, () => undefined);
  store = await createTestStore({ url: server.url, db: database.client });
  await database.close();
  const { id: lsId } = await saved(store);
  await store.post(paths.bulk, bulk(products(10)));
  all = calls(lsId, longRowsOfProcess);
});
afterAll(() => void server.process.kill("SIGKILL"));

const isReady = async () => (await readiness(server)).status === 200;
const areServed = async () => String(await waysOf(store, all)) === "done";

test("a PostgreSQL server that is stopped under load and started: requests get UNAVAILABLE, and then are served again", async () => {
  expect(await areServed()).toBe(true);
  const during = waysOf(store, all);
  await cluster.stop();
  expect(["done", "unavailable"]).toEqual(expect.arrayContaining([...(await during)]));
  expect(await waysOf(store, all)).toEqual(["unavailable"]);
  await expect.poll(isReady).toBe(false);
  await cluster.start();
  await expect.poll(isReady).toBe(true);
  await expect.poll(areServed).toBe(true); // each process has connections of its own
});

let answersOfHung: Promise<readonly string[]>;

test("one that hangs: the server says that it is not ready", async () => {
  await cluster.freeze();
  answersOfHung = waysOf(store, all);
  await expect.poll(isReady).toBe(false);
});

test("one that hangs: requests get UNAVAILABLE, whatever they wait for", async () => {
  expect(await answersOfHung).toEqual(["unavailable"]);
});

test("one that has hung: requests are served again", async () => {
  cluster.thaw();
  await expect.poll(isReady).toBe(true);
  await expect.poll(areServed).toBe(true);
});

test("one that hangs lets a server stop, and a command and another server fail", async () => {
  await cluster.freeze();
  onTestFinished(() => cluster.thaw());
  const env = { DATABASE_URL: cluster.url, PORT: "0" };
  const others = [start(["serve"], env), start(["token", "list", store.id], env)];
  const cut = waysOf(store, all).catch(() => undefined); // connections of requests that still wait at the end
  server.process.kill("SIGTERM");
  expect(await endOf(server)).toMatchObject({ status: 0, stderr: "" });
  await cut;
  for (const other of others) {
    const { status, stderr } = await endOf(other);
    expect({ status, stderr }).toEqual({ status: 4, stderr: expect.stringMatching(/^vitrine: [^\n]+\n$/u) });
  }
});
