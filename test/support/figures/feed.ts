import type { LiveStreamAnalytics } from "../../../src/figures/show/kpis.read.js";

export const analytics = { id: "show" } as LiveStreamAnalytics;

/** Reads that end when the test says so. */
export function heldReadings() {
  const readings: { give(value: LiveStreamAnalytics): void; fail(error: unknown): void }[] = [];
  const read = () => new Promise<LiveStreamAnalytics>((give, fail) => readings.push({ give, fail }));
  return { read, readings };
}
