/**
 * Rejects when a reply takes too long. If the process was blocked, timers fire first, but replies that have arrived are still
 * read.
 *
 * @param name of the peer, for the error
 */
export function withTimeout<Reply>(reply: Promise<Reply>, timeoutMs: number, name: string): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(new Error(`${name} does not answer.`));
    const timer = setTimeout(() => setImmediate(giveUp), timeoutMs);
    reply.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** Resolves after so many milliseconds. Unlike node:timers/promises, it uses the timers that a test can stop. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

/** Calls `work` once the signal is aborted, or immediately if it already is. @returns a function that stops waiting for it */
export function whenAborted(signal: AbortSignal | undefined, work: () => void): () => void {
  signal?.addEventListener("abort", work);
  if (signal?.aborted === true) work();
  return () => signal?.removeEventListener("abort", work);
}
