import { setTimeout as sleep } from "node:timers/promises";
import { AppError } from "../../errors.js";

export interface TurnLimits {
  /** When to log who is waited for. */
  readonly tellAfterMs: number;
  readonly giveUpAfterMs: number;
}

const limitsOfTurns: TurnLimits = { tellAfterMs: 5_000, giveUpAfterMs: 600_000 };
const pauseByDefaultMs = () => 50;

export type Try<Turn> = { readonly turn: Turn } | { readonly holder: string };

interface TurnOptions {
  readonly limits?: TurnLimits | undefined;
  readonly pauseMs?: () => number;
}

/**
 * Tries until `attempt` gets its turn.
 *
 * @param whom is waited for, as "another process that …"
 * @throws {AppError} UNAVAILABLE after `giveUpAfterMs`
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
