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

/** Takes a warning. Its text is of the code, not of a request, so that there are few. */
type Warn = (text: string) => void;

const topic = "warning";

/** Passes each text on the first time. */
export function onlyOnce(warn: Warn): Warn {
  const passed = new Set<string>();
  return (text) => {
    if (passed.has(text)) return;
    passed.add(text);
    warn(text);
  };
}

/** In the primary: takes a worker's warnings. */
export function warnForWorker(channel: Channel, warn: Warn): void {
  channel.on(topic, warn);
}

/** In a worker: passes warnings to the primary, so that several workers give each once. */
export function createPrimaryWarn(channel: Channel): Warn {
  return (text) => channel.send(topic, text);
}
