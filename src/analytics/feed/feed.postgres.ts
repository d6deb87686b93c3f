import { randomUUID } from "node:crypto";
import type { PoolConfig } from "pg";
import { NotificationChannel } from "../../database/notifications.js";
import { withTimeout } from "../../lib/timeout.js";
import { createCircuitBreaker } from "../../lib/circuitBreaker.js";
import { type FeedRelay, parseChange } from "./feed.relay.js";

const channelName = "vitrine_live_stream_changed";
/** NOTIFY takes a lock of the whole server at commit, so a process sends those of a second together. */
const sendEveryMs = 1_000;
const showsMax = 10_000;

/** How long the first subscriber waits for the connection to listen; its figures are read again once that does. */
const readyTimeoutMs = 1_000;

const closeTimeoutMs = 500;

interface Options {
  /** False behind a transaction pooler. */
  readonly listens: boolean;
  readonly log: (problem: Error) => void;
}

/** LISTEN and NOTIFY of the common PostgreSQL database. */
export function createPostgresRelay(connection: PoolConfig, { listens, log }: Options): FeedRelay {
  const self = randomUUID();
  const channel = new NotificationChannel(connection, channelName, createCircuitBreaker(log));
  const due = new Set<string>();
  let listener: Parameters<NotificationChannel["listen"]>[0] | undefined;
  let ready: Promise<void> | undefined;
  let sentAt = -Infinity;
  let timer: NodeJS.Timeout | undefined;

  const sendDue = async (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    sentAt = performance.now();
    const payloads = [...due];
    due.clear();
    if (payloads.length > 0) await channel.notify(payloads).catch(() => undefined); // the channel reports it
  };
  return {
    send(storeId, lsId) {
      if (due.size < showsMax) due.add(JSON.stringify([self, storeId, lsId]));
      timer ??= setTimeout(() => void sendDue(), Math.max(0, sentAt + sendEveryMs - performance.now()));
    },
    subscribe(onChange, onMissed) {
      listener = {
        onPayload(payload) {
          const change = parseChange(payload);
          if (change !== undefined && change[0] !== self) onChange(change[1], change[2]);
        },
        onReady: onMissed,
      };
    },
    ready() {
      if (!listens || listener === undefined) return ready;
      ready = withTimeout(channel.listen(listener), readyTimeoutMs, "The database")
        .catch(() => undefined)
        .then(() => (ready = undefined));
      listener = undefined;
      return ready;
    },
    async close() {
      await withTimeout(sendDue(), closeTimeoutMs, "The database").catch(() => undefined);
      await channel.close();
    },
  };
}
