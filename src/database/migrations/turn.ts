import { setTimeout as sleep } from "node:timers/promises";
import { AppError } from "../../errors.js";

export interface TurnLimits {
  /** When it is told who is waited for. */
  readonly tellAfterMs: number;
  readonly giveUpAfterMs: number;
}

const limitsOfTurns: TurnLimits = { tellAfterMs: 5_000, giveUpAfterMs: 600_000 };
const pauseByDefaultMs = () => 50;

/** A turn that is had, or who has it. */
export type Try<Turn> = { readonly turn: Turn } | { readonly holder: string };

interface TurnOptions {
  readonly limits?: TurnLimits | undefined;
  /** How long to pause before the next try. */
  readonly pauseMs?: () => number;
}

/**
 * Tries to get a turn until it is had.
 *
 * @param whom is waited for, as "another process that …"
 * @throws {AppError} UNAVAILABLE when it was not to be had in time
 */
export async function takeTurn<Turn>(
  whom: string,
  attempt: () => Promise<Try<Turn>>,
  log: (problem: Error) => void,
  { limits: { tellAfterMs, giveUpAfterMs } = limitsOfTurns, pauseMs = pauseByDefaultMs }: TurnOptions = {},
): Promise<Turn> {
  const begun = performance.now();
  for (let isTold = false; ;) {
    const tried = await attempt();
    if ("turn" in tried) return tried.turn;
    const waitedMs = performance.now() - begun;
    if (waitedMs >= giveUpAfterMs) {
      const message = `Waited ${Math.round(waitedMs / 1_000)} seconds in vain for ${whom}: ${tried.holder}. Nothing was changed.`;
      throw new AppError("UNAVAILABLE", message);
    }
    if (!isTold && waitedMs >= tellAfterMs) {
      log(new Error(`Waiting for ${whom}: ${tried.holder}.`));
      isTold = true;
    }
    await sleep(pauseMs());
  }
}
