import type { Worker } from "node:cluster";

/** Connects the primary process with a worker. Messages to a process that has ended are lost. */
export interface Channel {
  send(topic: string, ...parts: readonly unknown[]): void;
  /** Each topic has one listener, which gets the parts. */
  on(topic: string, listener: (...parts: never[]) => void): void;
}

export function openChannel(worker: Worker): Channel {
  const listeners = new Map<string, (...parts: readonly unknown[]) => void>();
  worker.on("message", (message: unknown) => {
    if (!Array.isArray(message)) return;
    const [topic, ...parts] = message as [string, ...unknown[]]; // `send` made it, because both ends run the same program
    listeners.get(topic)?.(...parts);
  });
  return {
    send(topic, ...parts) {
      worker.send([topic, ...parts], () => undefined);
    },
    on(topic, listener) {
      listeners.set(topic, listener as (...parts: readonly unknown[]) => void); // the parts of a topic always have the same types
    },
  };
}

/** Takes a warning. Only the code determines its text, not a request, so there are few different ones. */
type Warn = (text: string) => void;

const topic = "warning";

/** Passes each text on once. */
export function onlyOnce(warn: Warn): Warn {
  const passed = new Set<string>();
  return (text) => {
    if (passed.has(text)) return;
    passed.add(text);
    warn(text);
  };
}

/** In the primary: receives a worker's warnings. */
export function warnForWorker(channel: Channel, warn: Warn): void {
  channel.on(topic, warn);
}

/** In a worker: sends warnings to the primary, so that several workers log each one once. */
export function createPrimaryWarn(channel: Channel): Warn {
  return (text) => channel.send(topic, text);
}
