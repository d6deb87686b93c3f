import type { AppError } from "../../errors.js";
import { pause } from "../../lib/timers.js";
import { isLockTimeout } from "../databaseErrors.js";

export class LockedError extends Error {}

interface LockWaitOptions {
  /** 5 seconds by default. */
  readonly waitMs?: number;
  /** Callers queue during the first attempt already. */
  readonly fromFirstAttempt?: boolean;
  readonly signal?: AbortSignal | undefined;
  readonly refusal: () => AppError;
}

const waitMsDefault = 5_000;
const pauseMinMs = 10;
const pauseMaxMs = 250;

interface Waiter {
  wake: () => void;
}

/** First come, first served. */
const queues = new Map<string, Set<Waiter>>();

/**
 * Retries until an attempt gets a lock in the database. No connection is held between attempts, and of this process's
 * callers only the first one tries.
 *
 * @param key names the lock
 * @param attempt throws LockedError, or PostgreSQL's 55P03, having changed nothing, where the lock is held
 * @throws {AppError} the refusal after `waitMs`, or what an attempt throws
 */
export async function retryWhileLocked<Result>(
  key: string,
  attempt: () => Promise<Result>,
  { waitMs = waitMsDefault, fromFirstAttempt = false, signal, refusal }: LockWaitOptions,
): Promise<Result> {
  const deadline = performance.now() + waitMs;
  if (!fromFirstAttempt && !queues.has(key)) {
    const done = await tryLocked(attempt);
    if (done !== undefined) return done.result;
  }
  return inQueue(key, async (isFirst) => {
    for (let pauseMs = pauseMinMs; ;) {
      const leftMs = deadline - performance.now();
      if (leftMs <= 0 || signal?.aborted === true) throw refusal();
      if (!(await isFirst(leftMs, signal))) continue;
      const done = await tryLocked(attempt);
      if (done !== undefined) return done.result;
      await pause(pauseMs * (0.75 + Math.random() / 2)); // jitter, since other processes retry too
      pauseMs = Math.min(pauseMs * 2, pauseMaxMs);
    }
  });
}

/** Tells whether the caller is the first of its queue; otherwise only after it was woken, or `timeoutMs` have passed. */
type IsFirst = (timeoutMs: number, signal: AbortSignal | undefined) => Promise<boolean>;

async function inQueue<Result>(key: string, work: (isFirst: IsFirst) => Promise<Result>): Promise<Result> {
  const self: Waiter = { wake: () => undefined };
  const queue = queues.get(key) ?? new Set();
  queues.set(key, queue.add(self));
  try {
    return await work(async (timeoutMs, signal) => {
      if (firstOf(queue) === self) return true;
      await woken(self, timeoutMs, signal);
      return false;
    });
  } finally {
    queue.delete(self);
    if (queue.size === 0) queues.delete(key);
    firstOf(queue)?.wake();
  }
}

/** @returns undefined where the lock is held */
async function tryLocked<Result>(attempt: () => Promise<Result>): Promise<{ readonly result: Result } | undefined> {
  try {
    return { result: await attempt() };
  } catch (error) {
    if (isLocked(error)) return undefined;
    throw error;
  }
}

function firstOf(queue: Set<Waiter>): Waiter | undefined {
  const [first] = queue;
  return first;
}

function woken(waiter: Waiter, timeoutMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const wake = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", wake);
      resolve();
    };
    const timer = setTimeout(wake, timeoutMs);
    signal?.addEventListener("abort", wake);
    waiter.wake = wake;
  });
}

export function isLocked(error: unknown): boolean {
  return error instanceof LockedError || isLockTimeout(error);
}

/** Turns a lock timeout into LockedError. */
export async function asLocked<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    throw isLockTimeout(error) ? new LockedError("", { cause: error }) : error;
  }
}
