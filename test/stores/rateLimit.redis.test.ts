// @tier all
import { spawnSync } from "node:child_process";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { CallCounter } from "../../src/schema/limits/policies.js";
import { openRedisCounter } from "../../src/stores/rateLimits/rateLimit.redis.js";
import { stopTimers } from "../support/clock.js";
import { startApp, type TestApp } from "../support/app.js";
import {
  atOnce,
  limitHeaders,
  readGraphQL,
  readRest,
  wasGranted,
  outcomes,
  storeWithShow,
} from "../support/access/rateLimit.js";
import { needed } from "../support/run/programs.js";
import { until } from "../support/until.js";
import { type OwnRedis, serveAsRedis, startOwnRedis } from "../support/process/redis.js";

const redisUrl = needed("TEST_REDIS_URL");
const warning = "Redis is unavailable; this process counts calls separately until it recovers";

async function startOn(url: string): Promise<TestApp> {
  const app = await startApp({ redisUrl: url });
  onTestFinished(() => app.close());
  return app;
}

function warningsOf({ logged }: TestApp): number {
  return logged.filter((line) => line.includes(warning)).length;
}

/** Calls left of 100, as an answer's headers say. */
function leftOf(response: Response): number {
  const [, left] = /r=(\d+)/u.exec(limitHeaders(response)[1] ?? "") ?? [];
  return Number(left);
}

describe("on a Redis that other processes use too", () => {
  let apps: readonly [TestApp, TestApp];
  beforeAll(async () => {
    apps = [await startApp({ redisUrl: redisUrl }), await startApp({ redisUrl: redisUrl })];
  });
  afterAll(() => Promise.all(apps.map((app) => app.close())));

  test("of 300 concurrent calls to two servers, in both styles, exactly 100 are answered", async () => {
    const store = await storeWithShow(apps[0]);
    const responses = await atOnce(300, (index) =>
      index % 3 === 0 ? readGraphQL(store) : readRest(store, apps[index % 2]?.url),
    );
    expect(outcomes(responses)).toEqual({ granted: 100, refused: 200 });
    const left = responses.filter(wasGranted).map(leftOf);
    expect(new Set(left).size).toBe(100);
    expect(apps.map(warningsOf)).toEqual([0, 0]);
  });
});

describe("on a Redis of its own", () => {
  let redis: OwnRedis;
  let client: Redis;
  beforeAll(async () => {
    redis = await startOwnRedis();
    client = new Redis(redis.url);
    client.on("error", () => undefined); // it is stopped and started
  });
  afterAll(async () => {
    client.disconnect();
    await redis.stop();
  });
  beforeEach(async () => {
    redis.resume();
    await redis.start();
    await client.flushall();
  });

  /** Waits until what a server is asked is counted in Redis, which then is empty again. */
  async function untilShared(server: TestApp): Promise<void> {
    await client.flushall();
    const store = await storeWithShow(server);
    await until(async () => {
      await readRest(store);
      return (await client.dbsize()) > 0;
    }, "a server to use Redis");
    await client.flushall();
  }

  test("stopped and restarted, the service continues: first with its own counter, then with the shared one", async () => {
    const [app, other] = [await startOn(redis.url), await startOn(redis.url)];
    const store = await storeWithShow(app);
    expect(outcomes(await atOnce(30, () => readRest(store)))).toEqual({ granted: 30 });
    expect(outcomes(await atOnce(20, () => readRest(store, other.url)))).toEqual({ granted: 20 });

    await redis.stop();
    expect(outcomes(await atOnce(100, () => readRest(store)))).toEqual({ granted: 70, refused: 30 });
    expect(outcomes(await atOnce(100, () => readRest(store, other.url)))).toEqual({ granted: 80, refused: 20 });
    expect([app, other].map(warningsOf)).toEqual([1, 1]);

    await redis.start();
    for (const server of [app, other]) await untilShared(server);
    const shared = await storeWithShow(app);
    const responses = await atOnce(300, (index) => readRest(shared, index % 2 === 0 ? app.url : other.url));
    expect(outcomes(responses)).toEqual({ granted: 100, refused: 200 });
    expect([app, other].map(warningsOf)).toEqual([1, 1]);

    await redis.stop();
    expect((await readRest(await storeWithShow(app))).status).toBe(200);
    expect(warningsOf(app)).toBe(2);
  });

  test("while it hangs, calls are served by the server's own counter", async () => {
    const app = await startOn(redis.url);
    const store = await storeWithShow(app);
    expect((await readRest(store)).status).toBe(200);
    redis.hang();
    const answers = [...(await atOnce(20, () => readRest(store))), ...(await atOnce(20, () => readRest(store)))];
    redis.resume();
    expect(outcomes(answers)).toEqual({ granted: 40 });
    expect(warningsOf(app)).toBe(1);
    await untilShared(app);
  });

  test("down when the service starts, it is used as soon as it is up", async () => {
    await redis.stop();
    const app = await startOn(redis.url);
    const store = await storeWithShow(app);
    expect(outcomes(await atOnce(120, () => readRest(store)))).toEqual({ granted: 100, refused: 20 });
    expect(warningsOf(app)).toBe(1);
    await redis.start();
    await untilShared(app);
  });

  test("its keys are namespaced, do not show the store's id, count no refused call, and expire with the window", async () => {
    const app = await startOn(redis.url);
    const store = await storeWithShow(app);
    await atOnce(110, () => readRest(store));
    const [key = "", ...more] = await client.keys("*");
    expect([key, more]).toEqual([expect.stringMatching(/^vitrine:rate:[\w-]{43}$/u), []]);
    expect(await client.get(key)).toBe("100");
    expect(await client.pttl(key)).toBeGreaterThan(0);
    expect(await client.pttl(key)).toBeLessThanOrEqual(60_000);
    await client.pexpire(key, 1);
    await until(async () => (await client.dbsize()) === 0, "the key to expire");
    expect(leftOf(await readRest(store))).toBe(99);
  });

  describe("the shared counter", () => {
    const policy = { name: "analytics", callsMax: 3, windowMs: 60_000 } as const;
    let count: CallCounter;
    const warnings: Error[] = [];
    beforeEach(async () => {
      warnings.length = 0;
      count = await openRedisCounter(redis.url, (problem) => void warnings.push(problem));
    });
    afterEach(() => count.close());

    const reserve = async () => {
      const { isGranted, callsLeft, resetMs } = await count.reserve(policy, "store");
      return [isGranted, callsLeft, resetMs];
    };
    /** The key of the store's count. */
    async function usedKey(): Promise<string> {
      await reserve();
      const [key = ""] = await client.keys("*");
      return key;
    }

    test.each([
      ["text", (key: string) => client.set(key, "many")],
      ["an empty text", (key: string) => client.set(key, "")],
      ["a negative number", (key: string) => client.set(key, "-5")],
      ["a fraction", (key: string) => client.set(key, "2.5")],
      ["infinity", (key: string) => client.set(key, "inf")],
      ["a number beyond all counts", (key: string) => client.set(key, "99999999999999999999")],
      ["a list", (key: string) => client.multi().del(key).rpush(key, "1", "2", "3").exec()],
    ])("a value that is %s counts as zero, and is replaced by a count that expires", async (_, spoil) => {
      const key = await usedKey();
      await spoil(key);
      expect([await reserve(), await reserve(), await reserve()]).toEqual([
        [true, 2, 60_000],
        [true, 1, expect.any(Number)],
        [true, 0, expect.any(Number)],
      ]);
      expect(await reserve()).toEqual([false, 0, expect.any(Number)]);
      expect(await client.pttl(key)).toBeGreaterThan(0);
      expect(warnings).toEqual([]);
    });

    test("a key without an expiry, or with one beyond the window, gets that of the window", async () => {
      const key = await usedKey();
      await client.persist(key);
      expect(await reserve()).toEqual([true, 1, 60_000]);
      expect(await client.pttl(key)).toBeGreaterThan(0);
      await client.pexpire(key, 3_600_000);
      expect(await reserve()).toEqual([true, 0, 60_000]);
      await client.persist(key);
      expect(await reserve()).toEqual([false, 0, 60_000]);
      expect(await client.pttl(key)).toBeGreaterThan(0);
    });

    test("a window ends after its time, whatever was refused", async () => {
      const short = { ...policy, callsMax: 1, windowMs: 2_000 };
      expect(await count.reserve(short, "store")).toMatchObject({ isGranted: true });
      expect(await count.reserve(short, "store")).toMatchObject({ isGranted: false });
      await until(async () => (await count.reserve(short, "store")).isGranted, "the next window");
    });

    test("a process that is too busy to read replies in time still uses them", async () => {
      await count.reserve(policy, "another store"); // Redis has the script
      await client.flushall();
      const timers = stopTimers();
      let reservations: Promise<unknown[][]> | undefined;
      const isBlocked = (): boolean => {
        reservations = Promise.all([reserve(), reserve(), reserve(), reserve()]);
        const { stdout } = spawnSync("redis-cli", ["-u", redis.url, "ping"]); // by then Redis has replied, and nothing is read
        expect(stdout.toString().trim()).toBe("PONG");
        timers.pass(1_000);
        return true;
      };
      let looked = 0;
      await until(() => looked++ > 0 && isBlocked(), "a turn of the event loop that begins with timers");
      expect(((await reservations) ?? []).map(([isGranted]) => isGranted)).toEqual([true, true, true, false]);
      expect(warnings).toEqual([]);
      const [key = ""] = await client.keys("*");
      expect(await client.get(key)).toBe("3");
    });

    test("a Redis that lost the script gets it again", async () => {
      await reserve();
      await client.script("FLUSH");
      expect(await reserve()).toEqual([true, 1, expect.any(Number)]);
      expect(warnings).toEqual([]);
    });
  });
});

test("a server with invalid replies is treated like one that is down", async () => {
  const { url } = await serveAsRedis(() => "+OK\r\n");
  const warnings: string[] = [];
  const count = await openRedisCounter(url, ({ message }) => void warnings.push(message));
  onTestFinished(() => count.close());
  const policy = { name: "analytics", callsMax: 2, windowMs: 60_000 } as const;
  const verdicts = [];
  for (let call = 0; call < 4; call += 1) verdicts.push((await count.reserve(policy, "store")).isGranted);
  expect(verdicts).toEqual([true, true, false, false]);
  expect(warnings).toEqual(["Redis returned an invalid count."]);
});
