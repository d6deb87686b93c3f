import { constants } from "node:os";

const signals = ["SIGTERM", "SIGINT"] as const;
type Signal = (typeof signals)[number];

/** We replace this function instead of the listeners, because a signal between two listeners would be lost. */
let react: (signal: Signal) => void = end;

/** Signals end the process immediately, unless `untilSignal` waits for one. */
export function exitOnSignal(): void {
  for (const signal of signals) process.on(signal, () => react(signal));
}

/** Resolves with the next signal; a second one ends the process immediately. */
export function untilSignal(): Promise<string> {
  return new Promise((resolve) => {
    react = (signal) => {
      react = end;
      resolve(signal);
    };
  });
}

/**
 * Ends the process after the "exit" listeners, which remove temporary folders. Raises the signal again, because
 * process.exit waits for worker threads, and one of them may be executing a long statement.
 */
function end(signal: Signal): void {
  process.removeAllListeners(signal);
  process.once("exit", () => process.kill(process.pid, signal)); // has no effect on process 1 of a container
  process.exit(128 + constants.signals[signal]);
}
