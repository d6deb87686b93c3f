import { constants } from "node:os";

const signals = ["SIGTERM", "SIGINT"] as const;
type Signal = (typeof signals)[number];

/**
 * What a signal leads to. The listeners stay and this changes: a signal that comes while one listener is exchanged for
 * another is lost, since Node gives it to the first.
 */
let react: (signal: Signal) => void = end;

/** Lets signals end the process at once, unless something waits for one. */
export function exitOnSignal(): void {
  for (const signal of signals) process.on(signal, () => react(signal));
}

/** Resolves when the process is told to stop, instead of ending it. Told again, it ends at once. */
export async function untilSignal(): Promise<void> {
  await new Promise<void>((resolve) => {
    react = () => {
      react = end;
      resolve();
    };
  });
}

/**
 * Ends the process after the "exit" listeners have removed what stands in temporary folders. It is the signal that ends it
 * then, as it would without a listener: Node's own exit waits for worker threads, and one may be deep in a statement.
 */
function end(signal: Signal): void {
  process.removeAllListeners(signal);
  process.once("exit", () => process.kill(process.pid, signal)); // process 1 of a container is not ended by it
  process.exit(128 + constants.signals[signal]);
}
