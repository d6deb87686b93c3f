import { randomUUID } from "node:crypto";
import { Socket } from "node:net";
import pg, { type PoolConfig } from "pg";
import type { Config } from "../../config.js";
import type { OpenDatabase } from "../../database/open.js";
import { type CircuitBreaker, createCircuitBreaker } from "../../lib/circuitBreaker.js";
import { withTimeout } from "../../lib/timers.js";
import { type FeedRelay, openRedisRelay, parseChange } from "./feed.relay.js";

const timeoutMs = 5_000;

/** Detects connections that a firewall dropped silently. */
const pingMs = 15_000;

const reconnectDelayMaxMs = 10_000;

const closeMs = 1_000;

/**
 * LISTEN and NOTIFY on a connection of their own, opened on first use. For a listener it is reopened after errors;
 * notifications sent meanwhile are lost.
 */
class NotificationChannel {
  readonly #connection: PoolConfig;
  readonly #name: string;
  readonly #breaker: CircuitBreaker;
  #client: Promise<pg.Client> | undefined;
  #listener: Listener | undefined;
  #socket: Socket | undefined;
  #retry: NodeJS.Timeout | undefined;
  #failures = 0;
  #isClosed = false;

  constructor(connection: PoolConfig, name: string, breaker: CircuitBreaker) {
    this.#connection = connection;
    this.#name = name;
    this.#breaker = breaker;
  }

  /** Has no effect behind a transaction pooler. @returns after the first attempt; others follow where it failed */
  async listen(listener: Listener): Promise<void> {
    this.#listener = listener;
    const before = this.#client;
    try {
      if (before === undefined) await this.#open();
      else await this.#listen(await before);
    } catch {
      if (before !== undefined) this.#socket?.destroy();
    }
  }

  async notify(payloads: readonly string[]): Promise<void> {
    const client = await this.#open();
    await client.query("SELECT pg_notify($1, payload) FROM unnest($2::text[]) AS payload", [this.#name, payloads]);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    const ending = this.#client?.then((client) => client.end());
    await withTimeout(Promise.resolve(ending), closeMs, "The database").catch(() => undefined);
    this.#socket?.destroy();
  }

  #open(): Promise<pg.Client> {
    if (this.#client !== undefined) return this.#client;
    const connecting = this.#connect();
    this.#client = connecting;
    void this.#follow(connecting);
    return connecting;
  }

  async #follow(connecting: Promise<pg.Client>): Promise<void> {
    try {
      await connecting;
      this.#failures = 0;
      this.#breaker.answered();
    } catch (error) {
      this.#lost(connecting, error);
    }
  }

  async #connect(): Promise<pg.Client> {
    if (this.#isClosed) throw new Error("The channel is closed.");
    const socket = new Socket();
    this.#socket = socket;
    const limits = { connectionTimeoutMillis: timeoutMs, query_timeout: timeoutMs, keepAlive: true };
    const client = new pg.Client({
      ...this.#connection,
      ...limits,
      stream: () => socket,
      application_name: "vitrine live",
    });
    let problem: unknown = new Error("The connection was closed.");
    client.on("error", (error) => (problem = error));
    client.on("notification", ({ payload = "" }) => this.#listener?.onPayload(payload));
    const pinging = setInterval(() => void client.query("SELECT 1").catch(() => socket.destroy()), pingMs);
    pinging.unref();
    const connected = this.#begin(client);
    socket.once("close", () => {
      clearInterval(pinging);
      connected.then(() => this.#lost(this.#client, problem)).catch(() => undefined);
    });
    return connected.catch((error: unknown) => {
      socket.destroy();
      throw error;
    });
  }

  async #begin(client: pg.Client): Promise<pg.Client> {
    await client.connect();
    if (this.#listener !== undefined) await this.#listen(client);
    return client;
  }

  async #listen(client: pg.Client): Promise<void> {
    await client.query(`LISTEN ${this.#name}`);
    this.#listener?.onReady();
  }

  #lost(client: Promise<pg.Client> | undefined, problem: unknown): void {
    if (this.#isClosed || client === undefined || this.#client !== client) return;
    this.#client = undefined;
    this.#breaker.failed(problem);
    if (this.#listener === undefined) return;
    this.#failures += 1;
    const delayMs = Math.min(100 * 2 ** this.#failures, reconnectDelayMaxMs);
    this.#retry = setTimeout(() => void this.#open().catch(() => undefined), delayMs);
  }
}

const channelName = "vitrine_live_stream_changed";
/** NOTIFY takes a lock of the whole server at commit, so a process sends those of a second together. */
const sendEveryMs = 1_000;
const showsMax = 10_000;

/** How long the first subscriber waits for the connection to listen; its figures are read again once that does. */
const readyTimeoutMs = 1_000;

/**
 * Through Redis, or else through the database. Of the embedded engine, only the process that runs it has subscribers, and only commands
 * have something to send: it is told that one has, and not which shows have changed.
 *
 * @param warn called once for each outage, with what is unavailable
 */
export async function openRelay(
  { connection, onNotified }: OpenDatabase,
  { redisUrl, databaseNamedStatements: listens }: Config,
  warn: (problem: Error, what: string) => void,
): Promise<FeedRelay> {
  if (redisUrl !== undefined) return openRedisRelay(redisUrl, (problem) => warn(problem, "Redis"));
  if (onNotified !== undefined) {
    return { send: () => undefined, subscribe: (_, onMissed) => onNotified(onMissed), close: async () => undefined };
  }
  const breaker = createCircuitBreaker((problem) => warn(problem, "LISTEN/NOTIFY"));
  return new DatabaseRelay(new NotificationChannel(connection, channelName, breaker), listens);
}

class DatabaseRelay implements FeedRelay {
  readonly #self = randomUUID();
  readonly #due = new Set<string>();
  #listener: Parameters<NotificationChannel["listen"]>[0] | undefined;
  #ready: Promise<void> | undefined;
  #sentAt = -Infinity;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly channel: NotificationChannel,
    /** False behind a transaction pooler. */
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
    await withTimeout(this.#sendDue(), closeMs, "The database").catch(() => undefined);
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

interface Listener {
  onPayload(payload: string): void;
  /** Called after each LISTEN, the first one and those after outages. */
  onReady(): void;
}
