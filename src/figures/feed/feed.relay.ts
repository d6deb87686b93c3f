import { randomUUID } from "node:crypto";
import type { Redis } from "ioredis";

/** Notifies other processes that a show's figures changed. */
export interface FeedRelay {
  /** A lost change becomes visible with the next one. */
  send(storeId: string, lsId: string): void;
  /** @param onMissed called when changes may have been missed */
  subscribe(onChange: (storeId: string, lsId: string) => void, onMissed: () => void): void;
  /** To be awaited before a show is watched: changes are received from then on. */
  ready?(): Promise<void> | undefined;
  close(): Promise<void>;
}

const channel = "vitrine:live-stream-changed";

/** @param warn called once for each outage */
export async function openRedisRelay(url: string, warn: (problem: Error) => void): Promise<FeedRelay> {
  const { openRedis } = await import("../../lib/redis.js"); // its library would make starts without Redis longer
  return createRedisRelay(() => openRedis(url, warn));
}

/** @param open opens a connection; subscribing needs one of its own */
export function createRedisRelay(open: () => Redis): FeedRelay {
  const self = randomUUID();
  const sender = open();
  let receiver: Redis | undefined;
  return {
    send(storeId, lsId) {
      sender.publish(channel, JSON.stringify([self, storeId, lsId])).catch(() => undefined); // openRedis logs outages
    },
    subscribe(onChange, onMissed) {
      const subscriber = open();
      receiver = subscriber;
      subscriber.on("ready", () => {
        subscriber.subscribe(channel).then(onMissed, ({ name }: Error) => {
          const isRefused = name === "ReplyError"; // as by an access control list, each time
          if (!isRefused && subscriber.status === "ready") subscriber.disconnect(true); // repeated when it is ready again
        });
      });
      subscriber.on("message", (_, message: string) => {
        const change = parseChange(message);
        if (change !== undefined && change[0] !== self) onChange(change[1], change[2]);
      });
    },
    async close() {
      receiver?.disconnect();
      await sender.quit().catch(() => sender.disconnect());
    },
  };
}

/** @returns the sender, the store and the show; undefined for foreign messages */
export function parseChange(message: string): [string, string, string] | undefined {
  try {
    const parts: unknown = JSON.parse(message);
    return Array.isArray(parts) && parts.length === 3 && parts.every((part) => typeof part === "string")
      ? (parts as [string, string, string])
      : undefined;
  } catch {
    return undefined;
  }
}
