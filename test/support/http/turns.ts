import { onTestFinished } from "vitest";

/** Adds up the bytes that a test reads in each turn of the event loop, until its end. */
export function bytesOfTurns(): { add(bytes: number): void; most(): number } {
  let [bytes, most] = [0, 0];
  const next = () => {
    bytes = 0;
    turn = setImmediate(next);
  };
  let turn = setImmediate(next);
  onTestFinished(() => clearImmediate(turn));
  return {
    add(length) {
      bytes += length;
      most = Math.max(most, bytes);
    },
    most: () => most,
  };
}
