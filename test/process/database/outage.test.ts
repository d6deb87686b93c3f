// @tier all
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { connect } from "../../../src/database/open.js";
import { within } from "../../support/busy.js";
import { createTestStore } from "../../support/app.js";
import { type Cluster, createCluster } from "../../support/process/cluster.js";
import { hows, sendUntilTold, slowestMs } from "../../support/faults/load.js";
import { calls } from "../../support/faults/outage.js";
import { endOf, serve, type Serving, start } from "../../support/process.js";
import { until } from "../../support/until.js";
import { bulk, paths, products } from "../../support/products.js";
import { saved } from "../../support/shows.js";

describe.runIf(process.env["TEST_DATABASE_URL"] !== undefined)("a PostgreSQL server", () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await createCluster();
    return () => cluster.remove();
  });
  beforeEach(async () => {
    await cluster.start();
    return () => cluster.stop();
  });

  /** A server on the cluster, with a store that has products and the show of the calls. */
  async function serveStore(env: Readonly<Record<string, string>> = {}) {
    const variables = {
      DATABASE_URL: cluster.url,
      DATABASE_POOL_MAX: "4",
      ANALYTICS_RATE_LIMIT: "0",
      LOG_LEVEL: "error",
    };
    const server = await serve({ ...variables, ...env });
    onTestFinished(() => void server.process.kill("SIGKILL"));
    const database = connect({ connectionString: cluster.url, max: 1 }, () => undefined);
    const store = await createTestStore({ url: server.url, db: database.client });
    await database.close();
    const { id: lsId } = await saved(store);
    await store.post(paths.bulk, bulk(products(10)));
    return { server, store, calls: calls(lsId) };
  }

  test.each(["1", "2"])(
    "that is stopped and started under load: requests get UNAVAILABLE within 5 seconds, and then are served again (%s processes)",
    async (WEB_CONCURRENCY) => {
      const { server, store, calls: all } = await serveStore({ WEB_CONCURRENCY });
      const load = sendUntilTold(store, all);
      for (let round = 0; round < 2; round += 1) {
        await load.further("done", 30);
        await cluster.stop();
        await until(async () => (await readiness(server)) === 503, "the server to be not ready");
        await load.further("unavailable", 30);
        await cluster.start();
        await until(async () => (await readiness(server)) === 200, "the server to be ready again");
      }
      const answers = await load.stop();
      expect(hows(answers)).toEqual(["done", "unavailable"]);
      expect(slowestMs(answers)).toBeLessThan(within(5_000));
      expect(await server.stop()).toMatchObject({ status: 0, stderr: "" });
    },
  );

  test("that hangs: requests get UNAVAILABLE within 15 seconds, whatever they waited for, and then are served again", async () => {
    const { server, store, calls: all } = await serveStore();
    const load = sendUntilTold(store, all);
    await load.further("done", 30);
    await cluster.freeze();
    const frozenAt = performance.now();
    await until(async () => (await readiness(server)) === 503, "the server to be not ready");
    await load.further("unavailable", 3 * all.length);
    expect(performance.now() - frozenAt, "three answers to each sender").toBeLessThan(within(45_000));
    cluster.thaw();
    await until(async () => (await readiness(server)) === 200, "the server to be ready again");
    await load.further("done", 30);
    const answers = await load.stop();
    expect(hows(answers)).toEqual(["done", "unavailable"]);
    expect(slowestMs(answers)).toBeLessThan(within(15_000));
    expect(await server.stop()).toMatchObject({ status: 0, stderr: "" });
  });

  test("that hangs lets a server stop, and a command and another server fail", async () => {
    const { server, store, calls: all } = await serveStore({ SHUTDOWN_GRACE_MS: "1000" });
    const load = sendUntilTold(store, all);
    await load.further("done", 30);
    await cluster.freeze();
    onTestFinished(() => cluster.thaw());
    const env = { DATABASE_URL: cluster.url, PORT: "0" };
    const others = [start(["serve"], env), start(["token", "list", store.id], env)];
    const begun = performance.now();
    server.process.kill("SIGTERM");
    expect(await endOf(server)).toMatchObject({ status: 0 });
    expect(performance.now() - begun).toBeLessThan(within(1_000 + 5_000));
    for (const other of others) {
      const { status, stderr } = await endOf(other);
      expect({ status, stderr }).toEqual({ status: 4, stderr: expect.stringMatching(/^vitrine: [^\n]+\n$/u) });
    }
    await load.stop().catch(() => undefined); // its connections were cut
  });
});

async function readiness({ url }: Serving): Promise<number> {
  return (await fetch(`${url}/readyz`)).status;
}
