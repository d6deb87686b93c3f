import { constants } from "node:os";

const signals = ["SIGTERM", "SIGINT"] as const;

/**
 * Ends the process at once when it is told to stop, with the status that a shell gives for it. Node would do so too,
 * but without the "exit" listeners that remove what stands in temporary folders.
 */
export function exitOnSignal(): void {
  for (const signal of signals) process.once(signal, () => process.exit(128 + constants.signals[signal]));
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
