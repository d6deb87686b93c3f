import { describe, expect, test } from "vitest";
import {
  createLocalCounter,
  type LocalCounter,
  withLocalFallback,
} from "../../src/stores/rateLimits/rateLimit.memory.js";
import { countForWorker, createPrimaryCounter } from "../../src/server/cluster/primaryCounter.js";
import { policiesOf, rateLimitHeaders, tooManyCalls } from "../../src/schema/limits/policies.js";
import type { Channel } from "../../src/server/cluster/channel.js";
import { createCircuitBreaker } from "../../src/lib/circuitBreaker.js";
import { stopTimers } from "../support/clock.js";

describe("the counter of one process", () => {
  const policy = { name: "analytics", callsMax: 2, windowMs: 60_000 } as const;

  test("a window begins with the first call and ends after its time; refused calls do not prolong it", () => {
    let now = 5_000;
    const count = createLocalCounter(() => now);
    const reserve = () => {
      const { isGranted, callsLeft, resetMs } = count.reserve(policy, "store");
      return [isGranted, callsLeft, resetMs];
    };
    expect(reserve()).toEqual([true, 1, 60_000]);
    now += 40_000;
    expect(reserve()).toEqual([true, 0, 20_000]);
    now += 19_999;
    expect(reserve()).toEqual([false, 0, 1]);
    now += 1;
    expect(reserve()).toEqual([true, 1, 60_000]);
  });

  test("a refused call is not counted: a limit that is one higher grants one more", () => {
    const count = createLocalCounter();
    const verdicts = [2, 2, 2, 2, 3, 3].map((callsMax) => count.reserve({ ...policy, callsMax }, "store").isGranted);
    expect(verdicts).toEqual([true, true, false, false, true, false]);
  });

  test("a call granted elsewhere counts, in a window that ends when it does there", () => {
    let now = 0;
    const count = createLocalCounter(() => now);
    count.add(policy, "store", 1_000);
    expect(count.reserve(policy, "store")).toEqual({ policy, isGranted: true, callsLeft: 0, resetMs: 1_000 });
    expect(count.reserve(policy, "store")).toMatchObject({ isGranted: false });
    now = 1_000;
    expect(count.reserve(policy, "store")).toMatchObject({ isGranted: true, resetMs: 60_000 });
  });

  test("Retry-After is in whole seconds, rounded up, so that a client that waits is served", () => {
    expect(tooManyCalls({ policy, resetMs: 31_001 }).retryAfterSeconds).toBe(32);
    expect(tooManyCalls({ policy, resetMs: 0 }).retryAfterSeconds).toBe(1);
    expect(rateLimitHeaders([{ policy, isGranted: true, callsLeft: 1, resetMs: 31_001 }])).toEqual({
      "RateLimit-Policy": '"analytics";q=2;w=60',
      RateLimit: '"analytics";r=1;t=32',
    });
  });

  test("configured limits are per minute, and 0 disables a policy", () => {
    expect(
      policiesOf({ collectRateLimit: 0, analyticsRateLimit: 100, productRateLimit: 0, subscriptionRateLimit: 0 }),
    ).toEqual({
      analytics: { name: "analytics", callsMax: 100, windowMs: 60_000 },
    });
  });
});

describe("the counter that a primary has for its workers", () => {
  const policy = { name: "analytics", callsMax: 3, windowMs: 60_000 } as const;

  /** A worker's count, and what it warned of. Nothing is answered while `hangs()`. */
  function startWorker(held: LocalCounter, hangs: () => boolean = () => false) {
    const warnings: string[] = [];
    const [primary, worker] = openChannelPair(hangs);
    countForWorker(primary, held);
    const count = createPrimaryCounter(worker, ({ message }) => void warnings.push(message));
    return { warnings, reserve: async () => Object.values(await count.reserve(policy, "store")).slice(1) };
  }

  test("is shared by all of them", async () => {
    const held = createLocalCounter(() => 0);
    const [one, other] = [startWorker(held), startWorker(held)];
    expect([await one.reserve(), await other.reserve(), await one.reserve(), await other.reserve()]).toEqual([
      [true, 2, 60_000],
      [true, 1, 60_000],
      [true, 0, 60_000],
      [false, 0, 60_000],
    ]);
    expect([one.warnings, other.warnings]).toEqual([[], []]);
  });

  test("is replaced by the worker's own while the primary does not reply", async () => {
    const timers = stopTimers();
    let hangs = false;
    const { reserve, warnings } = startWorker(
      createLocalCounter(() => 0),
      () => hangs,
    );
    await reserve();
    hangs = true;
    const waiting = reserve();
    await timers.run(2_000);
    const verdicts = [await waiting, await reserve(), await reserve()].map(([isGranted]) => isGranted);
    expect(verdicts).toEqual([true, true, false]);
    expect(warnings).toEqual(["The primary does not answer."]);
    hangs = false;
    timers.pass(1_000);
    expect(await reserve(), "held there: one, and this one").toEqual([true, 1, 60_000]);
    expect(warnings).toHaveLength(1);
  });
});

test("a shared counter that hangs is waited for half a second by all calls, and then asked by one call a second", async () => {
  const timers = stopTimers();
  const policy = { name: "analytics", callsMax: 30, windowMs: 60_000 } as const;
  const warnings: Error[] = [];
  let asked = 0;
  const breaker = createCircuitBreaker((problem) => void warnings.push(problem));
  const reserveRemotely = () => {
    asked += 1;
    return new Promise<never>(() => undefined);
  };
  const count = withLocalFallback({ name: "Redis", breaker, replyTimeoutMs: 500, reserveRemotely });
  const many = () => Array.from({ length: 20 }, async () => (await count.reserve(policy, "store")).isGranted);
  const first = many();
  await timers.run(500);
  expect(await Promise.all(first)).toEqual(Array(20).fill(true));
  const next = await Promise.all(many());
  expect([next.filter(Boolean).length, asked]).toEqual([10, 20]);
  timers.pass(1_000);
  void Promise.all(many());
  expect(asked).toBe(21);
  expect(warnings.map(({ message }) => message)).toEqual(["Redis does not answer."]);
  count.close();
});

/** Both ends of a channel that carries nothing while `hangs()`. */
function openChannelPair(hangs: () => boolean): [Channel, Channel] {
  const ends = [new Map(), new Map()] as const;
  const open = (here: number, there: number): Channel => ({
    send: (topic, ...parts) => queueMicrotask(() => !hangs() && ends[there]?.get(topic)?.(...parts)),
    on: (topic, listener) => void ends[here]?.set(topic, listener),
  });
  return [open(0, 1), open(1, 0)];
}
