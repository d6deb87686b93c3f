import { setTimeout as sleep } from "node:timers/promises";
import { AppError } from "../../errors.js";

export interface TurnLimits {
  /** When to log who is waited for. */
  readonly logAfterMs: number;
  readonly giveUpAfterMs: number;
}

const limitsOfTurns: TurnLimits = { logAfterMs: 5_000, giveUpAfterMs: 600_000 };
const pauseByDefaultMs = () => 50;

export type Try<Turn> = { readonly turn: Turn } | { readonly holder: string };

interface TurnOptions {
  readonly limits?: TurnLimits | undefined;
  readonly pauseMs?: () => number;
}

/**
 * @param waitedFor for messages, as "another process that …"
 * @throws {AppError} UNAVAILABLE after `giveUpAfterMs`
 */
export async function takeTurn<Turn>(
  waitedFor: string,
  attempt: () => Promise<Try<Turn>>,
  log: (problem: Error) => void,
  { limits: { logAfterMs, giveUpAfterMs } = limitsOfTurns, pauseMs = pauseByDefaultMs }: TurnOptions = {},
): Promise<Turn> {
  const begun = performance.now();
  for (let isLogged = false; ;) {
    const tried = await attempt();
    if ("turn" in tried) return tried.turn;
    const waitedMs = performance.now() - begun;
    if (!isLogged && waitedMs >= logAfterMs) {
      log(new Error(`Waiting for ${waitedFor}: ${tried.holder}.`));
      isLogged = true;
    }
    if (waitedMs >= giveUpAfterMs) {
      const message = `Gave up after waiting ${Math.round(waitedMs / 1_000)} seconds for ${waitedFor}: ${tried.holder}. Nothing was changed.`;
      throw new AppError("UNAVAILABLE", message);
    }
    await sleep(pauseMs());
  }
}
