import { constants } from "node:os";

const signals = ["SIGTERM", "SIGINT"] as const;

/**
 * Ends the process at once when it is told to stop, after the "exit" listeners have removed what stands in temporary
 * folders. It is the signal that ends it then, as it would without a listener: Node's own exit waits for worker threads,
 * and one may be deep in a statement.
 */
export function exitOnSignal(): void {
  for (const signal of signals) {
    process.once(signal, () => {
      process.removeAllListeners(signal);
      process.once("exit", () => process.kill(process.pid, signal)); // process 1 of a container is not ended by it
      process.exit(128 + constants.signals[signal]);
    });
  }
}

/** Resolves when the process is told to stop, instead of ending it. Told again, it ends at once. */
export async function untilSignal(): Promise<void> {
  await new Promise<void>((resolve) => {
    for (const signal of signals) {
      process.removeAllListeners(signal);
      process.once(signal, () => resolve());
    }
  });
  exitOnSignal();
}
