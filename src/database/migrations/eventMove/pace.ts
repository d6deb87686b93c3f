import { setTimeout as sleep } from "node:timers/promises";

/** How fast events are moved beside those who record. */
export interface PaceLimits {
  /** A batch has as many events as are copied in this time. */
  readonly batchMs: number;
  readonly rowsMax: number;
}

/**
 * Batches hold no lock that others wait for, but the embedded engine runs one transaction at a time.
 */
export const paces = {
  postgresql: { batchMs: 1_000, rowsMax: 100_000 },
  embedded: { batchMs: 40, rowsMax: 5_000 },
} satisfies Record<string, PaceLimits>;

const rowsAtFirst = 500;
/**
 * On a busy machine even a single row may take longer than a batch should, and batches of single rows would never end.
 */
const rowsMin = 250;
/** The part of a batch's time that is left to others. */
const pauseShare = 0.2;

export interface Pace {
  readonly rows: number;
  /** Runs a batch, learns from the time that it takes, and pauses. @param batch returns how many rows it had */
  run(batch: () => Promise<number>): Promise<number>;
}

export function createPace({ batchMs, rowsMax }: PaceLimits): Pace {
  let rows = Math.min(rowsAtFirst, rowsMax);
  return {
    get rows() {
      return rows;
    },
    async run(batch) {
      const begun = performance.now();
      const done = await batch();
      const tookMs = performance.now() - begun;
      if (done >= rows || tookMs > batchMs) {
        const factor = Math.min(2, Math.max(0.5, batchMs / tookMs));
        rows = Math.min(rowsMax, Math.max(rowsMin, Math.round(rows * factor)));
      }
      if (done > 0) await sleep(tookMs * pauseShare);
      return done;
    },
  };
}
