import { setTimeout as sleep } from "node:timers/promises";
import { AppError } from "../errors.js";

export interface TurnLimits {
  /** When it is told who is waited for. */
  readonly tellAfterMs: number;
  readonly giveUpAfterMs: number;
}

const limitsOfTurns: TurnLimits = { tellAfterMs: 5_000, giveUpAfterMs: 300_000 };
const tryEveryMs = 50;

/** A turn that is had, or who has it. */
export type Try<Turn> = { readonly turn: Turn } | { readonly holder: string };

/**
 * Tries to get a turn until it is had.
 *
 * @param what for which there are turns
 * @throws {AppError} UNAVAILABLE when it was not to be had in time
 */
export async function takeTurn<Turn>(
  what: string,
  attempt: () => Promise<Try<Turn>>,
  log: (problem: Error) => void,
  { tellAfterMs, giveUpAfterMs }: TurnLimits = limitsOfTurns,
): Promise<Turn> {
  const begun = performance.now();
  for (let isTold = false; ;) {
    const tried = await attempt();
    if ("turn" in tried) return tried.turn;
    const waitedMs = performance.now() - begun;
    if (waitedMs >= giveUpAfterMs) {
      const message = `Another process has been at ${what} for ${Math.round(giveUpAfterMs / 1_000)} seconds and more: ${tried.holder}.`;
      throw new AppError("UNAVAILABLE", message);
    }
    if (!isTold && waitedMs >= tellAfterMs) {
      log(new Error(`Waiting for another process that is at ${what}: ${tried.holder}.`));
      isTold = true;
    }
    await sleep(tryEveryMs);
  }
}
