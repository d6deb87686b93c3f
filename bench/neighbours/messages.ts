import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";

/** The next message of a process that was forked. Undefined where it ends, or says nothing in time. */
export async function nextMessage(child: ChildProcess, timeoutMs: number): Promise<unknown> {
  const leaving = new AbortController();
  const { signal } = leaving;
  const message = once(child, "message", { signal }).then(([value]) => value as unknown);
  const ended = once(child, "exit", { signal }).then(() => undefined);
  const timeout = sleep(timeoutMs, undefined, { signal });
  try {
    return await Promise.race([message, ended, timeout]);
  } finally {
    for (const waiting of [message, ended, timeout]) waiting.catch(() => undefined);
    leaving.abort();
  }
}
