// @tier all
import { createConnection, createServer, type AddressInfo, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { createRedisRelay } from "../../src/figures/feed/feed.relay.js";
import { openRedis } from "../../src/lib/redis.js";
import { needed } from "../support/run/programs.js";

const redisUrl = needed("TEST_REDIS_URL");

/** Stands before Redis; connections that are open when it `swallows` stay so, and nothing comes through any more. */
async function standBefore(url: string) {
  const { hostname, port } = new URL(url);
  const pairs = new Set<readonly [Socket, Socket]>();
  const server = createServer((client) => {
    const redis = createConnection({ host: hostname, port: Number(port || 6379) });
    pairs.add([client, redis]);
    client.pipe(redis).pipe(client);
    for (const socket of [client, redis]) socket.on("error", () => undefined);
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const [client, redis] of pairs) [client, redis].forEach((socket) => socket.destroy());
    server.close();
  });
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    swallow() {
      for (const [client, redis] of pairs) {
        client.unpipe(redis);
        redis.unpipe(client);
        client.on("data", () => undefined);
      }
      pairs.clear();
    },
  };
}

const options = { pingIntervalMs: 20, commandTimeoutMs: 200 };

test("a connection without any reply is reported once and replaced, even if it only subscribes; missed changes are caught up on", async () => {
  const proxy = await standBefore(redisUrl);
  const problems: string[] = [];
  const open = () => openRedis(proxy.url, ({ message }) => problems.push(message), options);
  const [relay, elsewhere] = [createRedisRelay(open), createRedisRelay(() => openRedis(redisUrl, () => undefined))];
  onTestFinished(async () => void (await Promise.all([relay.close(), elsewhere.close()])));

  const noticed: string[] = [];
  let ready: () => void = () => undefined;
  const isReady = () => new Promise<void>((resolve) => (ready = resolve));
  const first = isReady();
  relay.subscribe(
    (_, lsId) => noticed.push(lsId),
    () => ready(),
  );
  await first;
  const second = isReady();
  proxy.swallow();
  await second;
  await expect.poll(() => (elsewhere.send("store", "show"), noticed)).toContain("show");
  expect([...new Set(problems)]).toEqual(["Redis does not answer."]);
  expect(problems.length, "once for each connection").toBeLessThanOrEqual(2);
});
