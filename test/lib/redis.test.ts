import { expect, onTestFinished, test } from "vitest";
import { createRedisRelay } from "../../src/figures/feed/feed.relay.js";
import { openRedis } from "../../src/lib/redis.js";
import { serveAsRedis } from "../support/process/redis.js";

test("a subscription that is not answered after an outage is repeated, and no rejection stays unhandled", async () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => void unhandled.push(reason);
  process.on("unhandledRejection", note);
  onTestFinished(() => void process.off("unhandledRejection", note));
  let [answers, unanswered] = [true, 0];
  const { url, drop } = await serveAsRedis((command) => {
    if (command !== "subscribe") return "+OK\r\n";
    if (answers) return "*3\r\n+subscribe\r\n+any\r\n:1\r\n";
    unanswered += 1;
    return "";
  });
  const relay = createRedisRelay(() => openRedis(url, () => undefined, { commandTimeoutMs: 50 }));
  onTestFinished(() => relay.close());
  let subscriptions = 0;
  relay.subscribe(
    () => undefined,
    () => (subscriptions += 1),
  );
  await expect.poll(() => subscriptions).toBe(1);
  answers = false;
  drop();
  await expect.poll(() => unanswered).toBeGreaterThan(1);
  answers = true;
  await expect.poll(() => subscriptions).toBe(2);
  expect(unhandled).toEqual([]);
});
