import cluster, { type Worker } from "node:cluster";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { type Channel, openChannel } from "./channel.js";

/** If a worker ends this soon, the cause may persist, so each replacement waits twice as long as the one before. */
const youngMs = 30_000;
const delayMinMs = 100;
const delayMaxMs = 10_000;

interface PooledWorker {
  readonly worker: Worker;
  readonly channel: Channel;
  readonly startedAt: number;
  /** Set once it serves. */
  url: string | undefined;
  readonly serves: Promise<string>;
  /** The message of its error. */
  failure: string | undefined;
  /** Resolves with the reason. */
  readonly ended: Promise<string>;
}

/** Called before a worker runs. @param ended settles when it has ended */
type OnSpawn = (channel: Channel, ended: Promise<unknown>) => void;

export class WorkerPool {
  readonly #log: Logger;
  readonly #onSpawn: OnSpawn;
  readonly #members = new Set<PooledWorker>();
  readonly #over = new AbortController();

  constructor(log: Logger, onSpawn: OnSpawn) {
    this.#log = log;
    this.#onSpawn = onSpawn;
  }

  /**
   * Starts `count` workers, and from then on replaces each one that ends.
   *
   * @returns the URL that all of them serve
   * @throws the error of the first worker that could not start, after killing the others
   */
  async start(count: number): Promise<string> {
    const first = Array.from({ length: count }, () => this.#spawn());
    const failed = first.map(async ({ ended }) => Promise.reject(new Error(await ended)));
    const all = Promise.all(first.map(({ serves }) => serves));
    try {
      const [url = ""] = await Promise.race([all, ...failed]);
      for (const member of first) void this.#replace(member);
      return url;
    } catch (error) {
      this.kill();
      throw error;
    }
  }

  /** Stops gracefully, and kills workers that do not end in time. @throws the error of a worker that failed */
  async stop(timeoutMs: number): Promise<void> {
    this.#over.abort();
    const last = [...this.#members];
    for (const member of last) stopWorker(member);
    const timer = setTimeout(() => {
      const workers = [...this.#members].map(({ worker }) => worker.process.pid);
      this.#log.warn({ workers, timeoutMs }, "killing workers that did not stop in time");
      this.kill();
    }, timeoutMs);
    await Promise.all(last.map(({ ended }) => ended));
    clearTimeout(timer);
    const failed = last.find(({ failure }) => failure !== undefined);
    if (failed !== undefined) throw new Error(failed.failure);
  }

  kill(): void {
    this.#over.abort();
    for (const { worker } of this.#members) worker.process.kill("SIGKILL");
  }

  #spawn(): PooledWorker {
    const member = startWorker();
    this.#onSpawn(member.channel, member.ended);
    this.#members.add(member);
    void member.ended.then(() => this.#members.delete(member));
    return member;
  }

  /** Replaces a worker when it ends, and then each of its successors. */
  async #replace(first: PooledWorker): Promise<void> {
    const { signal } = this.#over;
    let [member, delayMs] = [first, 0];
    for (;;) {
      const reason = await member.ended;
      if (signal.aborted) return;
      const isYoung = performance.now() - member.startedAt < youngMs;
      delayMs = isYoung ? Math.min(delayMaxMs, Math.max(delayMinMs, delayMs * 2)) : 0;
      this.#log.warn({ worker: member.worker.process.pid, reason, delayMs }, "replacing a worker that ended");
      await sleep(delayMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      member = this.#spawn();
    }
  }
}

function stopWorker({ worker, channel, url }: PooledWorker): void {
  if (url === undefined) worker.process.kill(); // it may not read its channel yet
  else channel.send("stop");
}

function startWorker(): PooledWorker {
  const worker = cluster.fork();
  const channel = openChannel(worker);
  const member: PooledWorker = {
    worker,
    channel,
    startedAt: performance.now(),
    url: undefined,
    failure: undefined,
    serves: new Promise((resolve) => {
      channel.on("serves", (url: string) => {
        member.url = url;
        resolve(url);
      });
    }),
    ended: new Promise((resolve) => {
      worker.once("exit", (status, signal: string | null) => {
        resolve(member.failure ?? `A worker ended with ${signal ?? `status ${status}`}.`);
      });
      worker.on("error", ({ message }) => {
        if (worker.process.pid === undefined) resolve(message); // it never started, so there will be no exit event
      });
    }),
  };
  channel.on("failed", (message: string) => {
    member.failure = message;
  });
  return member;
}
