/**
 * Gives up on a reply that takes too long. Timers come first when the process was busy or starved for that long: replies
 * that arrived meanwhile are read before it gives up, so that no one is called silent who is not.
 *
 * @param name of whoever is to reply, for the error
 */
export function withTimeout<Reply>(reply: Promise<Reply>, timeoutMs: number, name: string): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(new Error(`${name} does not answer.`));
    const timer = setTimeout(() => setImmediate(giveUp), timeoutMs);
    reply.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
