import { randomUUID } from "node:crypto";
import type { Redis } from "ioredis";

/** Carries the news that a show's figures changed between processes. */
export interface FeedRelay {
  /** Tells the others. What cannot be sent is lost: their watchers see the next change. */
  send(storeId: string, lsId: string): void;
  /** @param missed called when changes may have been missed */
  onChange(noticed: (storeId: string, lsId: string) => void, missed: () => void): void;
  /** Called when somebody begins to watch here: before, nothing need be heard. */
  watched?(): Promise<void> | undefined;
  close(): Promise<void>;
}

const channel = "vitrine:live-stream-changed";

/**
 * A relay over Redis publish and subscribe.
 *
 * @param open opens a connection: one to send, and one to listen where somebody does, since that can do nothing else
 */
export function createRedisRelay(open: () => Redis): FeedRelay {
  const self = randomUUID();
  const sender = open();
  let receiver: Redis | undefined;
  return {
    send(storeId, lsId) {
      sender.publish(channel, JSON.stringify([self, storeId, lsId])).catch(() => undefined); // openRedis logs outages
    },
    onChange(noticed, missed) {
      const subscriber = open();
      receiver = subscriber;
      subscriber.on("ready", () => {
        subscriber.subscribe(channel).then(missed, () => undefined); // tried again when it is next ready
      });
      subscriber.on("message", (_, message: string) => {
        const change = parseChange(message);
        if (change !== undefined && change[0] !== self) noticed(change[1], change[2]);
      });
    },
    async close() {
      receiver?.disconnect();
      await sender.quit().catch(() => sender.disconnect()); // what was sent last still goes out
    },
  };
}

/** Whoever tells, the store and the show; undefined for what nobody of us sent. */
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
