import type { Worker } from "node:cluster";

/** What the primary process and one of its workers say to each other. What is said to an end that is gone is lost. */
export interface Channel {
  send(topic: string, ...parts: readonly unknown[]): void;
  /** One listener for each topic. It takes the parts that are told under it. */
  on(topic: string, listener: (...parts: never[]) => void): void;
}

/** The channel of a worker, at either end of it. */
export function openChannel(worker: Worker): Channel {
  const listeners = new Map<string, (...parts: readonly unknown[]) => void>();
  worker.on("message", (message: unknown) => {
    if (!Array.isArray(message)) return;
    const [topic, ...parts] = message as [string, ...unknown[]]; // `send` made it: both ends are the same program
    listeners.get(topic)?.(...parts);
  });
  return {
    send(topic, ...parts) {
      worker.send([topic, ...parts], () => undefined);
    },
    on(topic, listener) {
      listeners.set(topic, listener as (...parts: readonly unknown[]) => void); // whoever tells keeps to the topic
    },
  };
}
