import { createConnection, createServer, type AddressInfo, type Socket } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { createRedisRelay } from "../../src/analytics/feed/feed.relay.js";
import { openRedis } from "../../src/lib/redis.js";

const redisUrl = process.env["TEST_REDIS_URL"] ?? "";

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

/** A Redis that confirms everything, but subscriptions only while `answers`. */
async function standInForRedis() {
  const sockets = new Set<Socket>();
  const state = { answers: true, unanswered: 0 };
  const server = createServer((socket) => {
    sockets.add(socket.on("error", () => undefined));
    socket.on("data", (commands) => {
      for (const [, name = ""] of commands.toString().matchAll(/^\*\d+\r\n\$\d+\r\n(\w+)\r$/gmu)) {
        const isSubscription = name.toLowerCase() === "subscribe";
        if (!isSubscription) socket.write("+OK\r\n");
        else if (state.answers) socket.write(`*3\r\n+subscribe\r\n+any\r\n:1\r\n`);
        else state.unanswered += 1;
      }
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const drop = () => sockets.forEach((socket) => socket.destroy());
  onTestFinished(() => {
    drop();
    server.close();
  });
  return { url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`, state, drop };
}

test("a subscription that is not answered after an outage is repeated, and no rejection stays unhandled", async () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => void unhandled.push(reason);
  process.on("unhandledRejection", note);
  onTestFinished(() => void process.off("unhandledRejection", note));
  const { url, state, drop } = await standInForRedis();
  const relay = createRedisRelay(() => openRedis(url, () => undefined, { commandTimeoutMs: 50 }));
  onTestFinished(() => relay.close());
  let subscriptions = 0;
  relay.subscribe(
    () => undefined,
    () => (subscriptions += 1),
  );
  await expect.poll(() => subscriptions).toBe(1);
  state.answers = false;
  drop();
  await expect.poll(() => state.unanswered).toBeGreaterThan(1);
  state.answers = true;
  await expect.poll(() => subscriptions).toBe(2);
  expect(unhandled).toEqual([]);
});

describe.runIf(redisUrl !== "")("a connection without any reply", () => {
  const options = { pingIntervalMs: 20, commandTimeoutMs: 200 };

  test("is reported once and replaced, even if it only subscribes; missed changes are caught up on", async () => {
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
});
