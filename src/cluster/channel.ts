import type { Worker } from "node:cluster";

/** Messages between the primary process and one of its workers. Messages to an end that is gone are lost. */
export interface Channel {
  send(topic: string, ...parts: readonly unknown[]): void;
  /** Sets the one listener of a topic; it gets the parts. */
  on(topic: string, listener: (...parts: never[]) => void): void;
}

/** The channel of a worker, at either end of it. */
export function openChannel(worker: Worker): Channel {
  const listeners = new Map<string, (...parts: readonly unknown[]) => void>();
  worker.on("message", (message: unknown) => {
    if (!Array.isArray(message)) return;
    const [topic, ...parts] = message as [string, ...unknown[]]; // made by `send`: both ends are the same program
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
