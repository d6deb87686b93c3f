import type { Worker } from "node:cluster";

/** What the primary process and one of its workers say to each other. What is said to an end that is gone is lost. */
export interface Line {
  tell(topic: string, ...parts: readonly unknown[]): void;
  /** One listener for each topic. It takes the parts that are told under it. */
  onTold(topic: string, listener: (...parts: never[]) => void): void;
}

/** The line of a worker, at either end of it. */
export function openLine(worker: Worker): Line {
  const listeners = new Map<string, (...parts: readonly unknown[]) => void>();
  worker.on("message", (message: unknown) => {
    if (!Array.isArray(message)) return;
    const [topic, ...parts] = message as [string, ...unknown[]]; // `tell` made it: both ends are the same program
    listeners.get(topic)?.(...parts);
  });
  return {
    tell(topic, ...parts) {
      worker.send([topic, ...parts], () => undefined);
    },
    onTold(topic, listener) {
      listeners.set(topic, listener as (...parts: readonly unknown[]) => void); // whoever tells keeps to the topic
    },
  };
}
