import { AppError } from "../errors.js";
import type { RootDatabase } from "./client.js";

/** As long as a lock is waited for. */
const waitMs = 10_000;

interface Turns {
  free: number;
  /** In the order in which they came. */
  readonly waiting: Set<() => void>;
}

const turnsOf = new WeakMap<RootDatabase, Turns>();

/** Keeps half of the connections free of long work, so that requests that need one for a moment do not wait behind it. */
export function boundLongWork(db: RootDatabase, connectionsMax: number): void {
  turnsOf.set(db, { free: Math.max(1, Math.floor(connectionsMax / 2)), waiting: new Set() });
}

/**
 * Runs work that holds a connection for seconds or longer, once it has a turn.
 *
 * @throws {AppError} UNAVAILABLE where it has to wait for too long
 */
export async function asLongWork<Result>(db: RootDatabase, work: () => Promise<Result>): Promise<Result> {
  const turns = turnsOf.get(db);
  if (turns === undefined) return work();
  await takeTurn(turns);
  try {
    return await work();
  } finally {
    passTurn(turns);
  }
}

async function takeTurn(turns: Turns): Promise<void> {
  if (turns.free > 0) {
    turns.free -= 1;
    return;
  }
  await new Promise<void>((resolve, reject) => {
    const enter = (): void => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(() => {
      turns.waiting.delete(enter);
      const message = "Too many long imports are under way. Nothing was changed.";
      reject(new AppError("UNAVAILABLE", message, { retryAfterSeconds: 5 }));
    }, waitMs);
    turns.waiting.add(enter);
  });
}

function passTurn(turns: Turns): void {
  const [next] = turns.waiting;
  if (next === undefined) {
    turns.free += 1;
    return;
  }
  turns.waiting.delete(next);
  next();
}
