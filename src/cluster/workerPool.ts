import cluster, { type Worker } from "node:cluster";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { type Channel, openChannel } from "./channel.js";

/** A worker that ends this soon is replaced with a delay that doubles: the cause may last. */
const youngMs = 30_000;
const delayMinMs = 100;
const delayMaxMs = 10_000;

export interface WorkerPool {
  /**
   * Starts `count` workers, and replaces each that ends from then on.
   *
   * @returns the URL that all of them serve
   * @throws the error of the first that could not start, after killing the others
   */
  start(count: number): Promise<string>;
  /** Stops gracefully; kills workers that have not ended in time. @throws the error of one that failed */
  stop(timeoutMs: number): Promise<void>;
  readonly kill: () => void;
}

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

export function createWorkerPool(log: Logger, onSpawn: OnSpawn): WorkerPool {
  const members = new Set<PooledWorker>();
  const over = new AbortController();

  const spawn = (): PooledWorker => {
    const member = startWorker();
    onSpawn(member.channel, member.ended);
    members.add(member);
    void member.ended.then(() => members.delete(member));
    return member;
  };

  /** Replaces a worker when it ends, and then each successor. */
  const replace = async (first: PooledWorker): Promise<void> => {
    let [member, delayMs] = [first, 0];
    for (;;) {
      const reason = await member.ended;
      if (over.signal.aborted) return;
      const isYoung = performance.now() - member.startedAt < youngMs;
      delayMs = isYoung ? Math.min(delayMaxMs, Math.max(delayMinMs, delayMs * 2)) : 0;
      log.warn({ worker: member.worker.process.pid, reason, delayMs }, "a worker ended and is replaced");
      await sleep(delayMs, undefined, { signal: over.signal }).catch(() => undefined);
      if (over.signal.aborted) return;
      member = spawn();
    }
  };

  const kill = (): void => {
    over.abort();
    for (const { worker } of members) worker.process.kill("SIGKILL");
  };

  return {
    async start(count) {
      const first = Array.from({ length: count }, spawn);
      const failed = first.map(async ({ ended }) => Promise.reject(new Error(await ended)));
      const all = Promise.all(first.map(({ serves }) => serves));
      try {
        const [url = ""] = await Promise.race([all, ...failed]);
        for (const member of first) void replace(member);
        return url;
      } catch (error) {
        kill();
        throw error;
      }
    },
    async stop(timeoutMs) {
      over.abort();
      const last = [...members];
      for (const member of last) stopWorker(member);
      const timer = setTimeout(() => {
        const workers = [...members].map(({ worker }) => worker.process.pid);
        log.warn({ workers, timeoutMs }, "these workers did not stop in time, and are killed");
        kill();
      }, timeoutMs);
      await Promise.all(last.map(({ ended }) => ended));
      clearTimeout(timer);
      const failed = last.find(({ failure }) => failure !== undefined);
      if (failed !== undefined) throw new Error(failed.failure);
    },
    kill,
  };
}

function stopWorker({ worker, channel, url }: PooledWorker): void {
  if (url === undefined) worker.process.kill(); // it may not listen to its channel yet
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
        if (worker.process.pid === undefined) resolve(message); // never started: there will be no exit event
      });
    }),
  };
  channel.on("failed", (message: string) => {
    member.failure = message;
  });
  return member;
}
