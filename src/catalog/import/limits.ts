import { AppError } from "../../errors.js";

/** The longest import; a client of today's networks has given up long before. */
export const importTimeoutMs = 60 * 60_000;

/** Work stops where its caller has gone. @throws {AppError} UNAVAILABLE, which nobody reads */
export function stopIfGone(signal: AbortSignal | undefined): void {
  if (signal?.aborted !== true) return;
  throw new AppError("UNAVAILABLE", "The caller has gone. Nothing was stored.");
}
