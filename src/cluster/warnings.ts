import type { Channel } from "./channel.js";

/** Takes a warning. Its text is of the code, not of a request, so that there are few. */
export type Warn = (text: string) => void;

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
