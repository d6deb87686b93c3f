import { setTimeout as sleep } from "node:timers/promises";
import type { AppError } from "../../errors.js";
import { isLockTimeout } from "../errors.js";

/** Thrown by an attempt that found its lock held by another: whenUnlocked tries again. */
export class LockedError extends Error {}

interface LockWaitOptions {
  /** How long the lock is waited for; 5 seconds unless given. */
  readonly waitMs?: number;
  /** Whether callers that come during the first attempt wait behind it, as they do behind further ones. */
  readonly fromFirstAttempt?: boolean;
  /** Aborted when the caller has gone: then nothing more is tried. */
  readonly signal?: AbortSignal | undefined;
  /** What callers are told that waited in vain. */
  readonly refusal: () => AppError;
}

const waitMsDefault = 5_000;
const pauseMinMs = 10;
const pauseMaxMs = 250;

interface Waiter {
  /** Called when the one before it leaves. */
  wake: () => void;
}

/** Those who wait, by lock, in the order in which they came. An entry stands here only while somebody waits. */
const queues = new Map<string, Set<Waiter>>();

/**
 * Runs an attempt that tries for a lock in the database, and again until the lock is had. Between attempts no connection is
 * held, so that whoever waits for a lock takes none from others. Callers of this process that wait for the same lock are
 * served in the order in which they came: only the first of them tries.
 *
 * @param key names the lock
 * @param attempt throws LockedError, or PostgreSQL's 55P03, where the lock is held by another; it must have changed nothing then
 * @throws {AppError} the refusal after waiting in vain, or what an attempt throws
 */
export async function whenUnlocked<Result>(
  key: string,
  attempt: () => Promise<Result>,
  { waitMs = waitMsDefault, fromFirstAttempt = false, signal, refusal }: LockWaitOptions,
): Promise<Result> {
  const deadline = performance.now() + waitMs;
  if (!fromFirstAttempt && !queues.has(key)) {
    try {
      return await attempt();
    } catch (error) {
      if (!isLocked(error)) throw error;
    }
  }
  const self: Waiter = { wake: () => undefined };
  const queue = queues.get(key) ?? new Set();
  queues.set(key, queue.add(self));
  let pauseMs = pauseMinMs;
  try {
    for (;;) {
      const leftMs = deadline - performance.now();
      if (leftMs <= 0 || signal?.aborted === true) throw refusal();
      if (firstOf(queue) !== self) {
        await woken(self, leftMs, signal);
        continue;
      }
      try {
        return await attempt();
      } catch (error) {
        if (!isLocked(error)) throw error;
      }
      await sleep(pauseMs * (0.75 + Math.random() / 2)); // other processes try as well: not all at the same moment
      pauseMs = Math.min(pauseMs * 2, pauseMaxMs);
    }
  } finally {
    queue.delete(self);
    if (queue.size === 0) queues.delete(key);
    firstOf(queue)?.wake();
  }
}

function firstOf(queue: Set<Waiter>): Waiter | undefined {
  const [first] = queue;
  return first;
}

/** Resolves when the waiter is woken, its time is up, or its caller has gone. */
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

/** Whether an attempt found its lock held by another. */
export function isLocked(error: unknown): boolean {
  return error instanceof LockedError || isLockTimeout(error);
}

/** A statement or transaction that is to be tried again where it waits in vain for a lock. @throws {LockedError} there */
export async function asLocked<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    throw isLockTimeout(error) ? new LockedError("", { cause: error }) : error;
  }
}
