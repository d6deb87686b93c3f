/**
 * Rejects when a reply takes too long. After the process was blocked, replies that arrived meanwhile are still read,
 * although timers fire first.
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

/** Resolves after so many milliseconds, by this process's own timers, which a test can stop; it cannot stop those of node:timers/promises. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

/** Calls `work` once the signal is aborted, immediately where it was before. @returns a function that ends that */
export function whenAborted(signal: AbortSignal | undefined, work: () => void): () => void {
  signal?.addEventListener("abort", work);
  if (signal?.aborted === true) work();
  return () => signal?.removeEventListener("abort", work);
}
