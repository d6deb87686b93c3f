import { randomUUID } from "node:crypto";
import type { PoolConfig } from "pg";
import { NotificationChannel } from "../../database/notifications.js";
import { createCircuitBreaker } from "../../lib/circuitBreaker.js";
import { withTimeout } from "../../lib/timers.js";
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
  return new PostgresRelay(new NotificationChannel(connection, channelName, createCircuitBreaker(log)), listens);
}

class PostgresRelay implements FeedRelay {
  readonly #self = randomUUID();
  readonly #due = new Set<string>();
  #listener: Parameters<NotificationChannel["listen"]>[0] | undefined;
  #ready: Promise<void> | undefined;
  #sentAt = -Infinity;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly channel: NotificationChannel,
    private readonly listens: boolean,
  ) {}

  send(storeId: string, lsId: string): void {
    if (this.#due.size < showsMax) this.#due.add(JSON.stringify([this.#self, storeId, lsId]));
    const inMs = Math.max(0, this.#sentAt + sendEveryMs - performance.now());
    this.#timer ??= setTimeout(() => void this.#sendDue(), inMs);
  }

  subscribe(onChange: (storeId: string, lsId: string) => void, onMissed: () => void): void {
    this.#listener = {
      onPayload: (payload) => {
        const change = parseChange(payload);
        if (change !== undefined && change[0] !== this.#self) onChange(change[1], change[2]);
      },
      onReady: onMissed,
    };
  }

  ready(): Promise<void> | undefined {
    if (!this.listens || this.#listener === undefined) return this.#ready;
    this.#ready = withTimeout(this.channel.listen(this.#listener), readyTimeoutMs, "The database")
      .catch(() => undefined)
      .then(() => (this.#ready = undefined));
    this.#listener = undefined;
    return this.#ready;
  }

  async close(): Promise<void> {
    await withTimeout(this.#sendDue(), closeTimeoutMs, "The database").catch(() => undefined);
    await this.channel.close();
  }

  async #sendDue(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#sentAt = performance.now();
    const payloads = [...this.#due];
    this.#due.clear();
    if (payloads.length > 0) await this.channel.notify(payloads).catch(() => undefined); // the channel reports it
  }
}
