import type { Worker } from "node:cluster";

/** Connects the primary process and a worker. Messages to an ended process are lost. */
export interface Channel {
  send(topic: string, ...parts: readonly unknown[]): void;
  /** One listener for each topic; it gets the parts. */
  on(topic: string, listener: (...parts: never[]) => void): void;
}

export function openChannel(worker: Worker): Channel {
  const listeners = new Map<string, (...parts: readonly unknown[]) => void>();
  worker.on("message", (message: unknown) => {
    if (!Array.isArray(message)) return;
    const [topic, ...parts] = message as [string, ...unknown[]]; // made by `send`: both ends run the same program
    listeners.get(topic)?.(...parts);
  });
  return {
    send(topic, ...parts) {
      worker.send([topic, ...parts], () => undefined);
    },
    on(topic, listener) {
      listeners.set(topic, listener as (...parts: readonly unknown[]) => void); // each topic has parts of one shape
    },
  };
}
