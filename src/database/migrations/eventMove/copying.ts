import type { Pool } from "pg";
import { AppError } from "../../../errors.js";
import { inSessionTransaction } from "../tableLocks.js";
import type { TurnLimits } from "../turn.js";
import { compareShow } from "./compare.sql.js";
import {
  beginAgain,
  copiedTables,
  copyBatch,
  copyQueue,
  discardShows,
  forgetShow,
  isStillMoved,
  lastOfBatch,
  nextShow,
  numberShows,
  planBatches,
  queueLength,
  removeCopies,
  setCopied,
  setState,
} from "./copy.sql.js";
import { createPace, type Pace, type PaceLimits } from "./pace.js";

/** The switch begins with less in the queue. */
const queuedBeforeSwitch = 1_000;
const vacuumAfter = 100_000;
const progressMs = 10_000;

type Session = Pick<Pool, "query">;

export interface Move {
  readonly session: Session;
  readonly folder: string;
  readonly log: (problem: Error) => void;
  readonly limits: TurnLimits | undefined;
  readonly pace: PaceLimits;
}

/** Copies until the queue is short, and every show is verified. */
export async function copyAll(move: Move): Promise<void> {
  const { session } = move;
  const pace = createPace(move.pace);
  const progress = await createProgress(move);
  let queued = 0;
  for (;;) {
    while (((await session.query(numberShows, ["copying"])).rowCount ?? 0) > 0);
    await session.query(discardShows);
    await removeDiscarded(move, pace);
    const drained = await pace.run(() => drainQueue(move, pace.rows));
    queued += drained;
    if (queued >= vacuumAfter) {
      await session.query('VACUUM "EventMoveQueue"'); // batches would go through all that was removed
      queued = 0;
    }
    const copied = await pace.run(() => copyNext(move, pace.rows));
    progress(copied);
    if (copied > 0 || (await compareNext(move)) || !(await isQueueBelow(session, queuedBeforeSwitch))) continue;
    return;
  }
}

export async function isQueueBelow(session: Session, events: number): Promise<boolean> {
  const { rows } = await session.query<{ queued: number }>(queueLength, [events]);
  return rows[0]?.queued !== events;
}

async function drainQueue(move: Move, rows: number): Promise<number> {
  return inSessionTransaction(move.session, () => copyQueued(move.session, rows));
}

/** To be run in a transaction. */
export async function copyQueued(session: Session, rows: number): Promise<number> {
  for (const setting of planBatches) await session.query(setting);
  return (await session.query<{ read: number }>(copyQueue, [rows])).rows[0]?.read ?? 0;
}

interface ShowCopy {
  readonly storeId: string;
  readonly show: number;
  readonly after: string;
  /** Null where the show is gone. */
  readonly id: string | null;
}

async function showIn({ session }: Move, state: string): Promise<ShowCopy | undefined> {
  return (await session.query<ShowCopy>(nextShow, [state])).rows[0];
}

/** Copies the next events of a show. @returns how many there were, at least 1 unless all shows are copied */
async function copyNext(move: Move, rowsMax: number): Promise<number> {
  const copy = await showIn(move, "copying");
  if (copy === undefined) return 0;
  const { storeId, id, show, after } = copy;
  const { session } = move;
  return inSessionTransaction(session, async () => {
    for (const setting of planBatches) await session.query(setting);
    const from = [storeId, id, show, after];
    const { rows } = await session.query<{ id: string }>(lastOfBatch, [...from, rowsMax]);
    const last = rows[0]?.id ?? null;
    const read = (await session.query<{ read: number }>(copyBatch, [...from, last])).rows[0]?.read ?? 0;
    await session.query(setCopied, [storeId, show, last ?? after, read, last === null ? "copied" : "copying"]);
    return Math.max(1, read);
  });
}

/** @returns whether there was a show to compare @throws {AppError} INTERNAL where it differs; the next run copies it again */
async function compareNext(move: Move): Promise<boolean> {
  const copy = await showIn(move, "copied");
  if (copy === undefined) return false;
  const { storeId, id, show } = copy;
  const { rows } = await move.session.query<Record<string, string>>(compareShow, [storeId, id, show]);
  const figures = rows[0] ?? {};
  const different = Object.keys(figures)
    .filter((name) => name.startsWith("old"))
    .map((name) => name.slice(3))
    .filter((name) => figures[`old${name}`] !== figures[`new${name}`]);
  await move.session.query(setState, [storeId, show, different.length === 0 ? "verified" : "discarded"]);
  if (different.length === 0) return true;
  const moved = await move.session.query(isStillMoved, [storeId, show]);
  if (moved.rowCount === 0) return true; // pruned or deleted meanwhile
  const told = different.map((name) => `${name.toLowerCase()} ${figures[`old${name}`]} and ${figures[`new${name}`]}`);
  const message = `The show ${id} of the store ${storeId} differs where its events were copied: ${told.join(", ")}. Nothing was switched. Run "vitrine analytics rebuild ${storeId} ${id}" of the version before, and migrate again.`;
  throw new AppError("INTERNAL", message);
}

async function removeDiscarded(move: Move, pace: Pace): Promise<void> {
  const { session } = move;
  for (;;) {
    const copy = await showIn(move, "discarded");
    if (copy === undefined) return;
    const key = [copy.storeId, copy.show];
    for (const table of copiedTables) {
      const remove = async () => (await session.query(removeCopies(table), [...key, pace.rows])).rowCount ?? 0;
      while ((await pace.run(remove)) > 0);
    }
    await inSessionTransaction(session, async () => {
      if ((await session.query(forgetShow, key)).rowCount === 0) await session.query(beginAgain, key);
    });
  }
}

/** Logs how far the move is, now and then. */
async function createProgress({ session, log }: Move): Promise<(events: number) => void> {
  const { rows } = await session.query<{ moved: string; all: string }>(`
    SELECT (SELECT coalesce(sum("events"), 0) FROM "EventMove") AS moved,
      (SELECT greatest(reltuples, 0)::bigint FROM pg_class WHERE oid = '"ShopperEvent"'::regclass) AS all`);
  let moved = Number(rows[0]?.moved ?? 0);
  const all = Number(rows[0]?.all ?? 0);
  let toldAt = performance.now();
  return (events) => {
    moved += events;
    if (performance.now() - toldAt < progressMs) return;
    toldAt = performance.now();
    const of = all > moved ? ` of about ${all.toLocaleString("en")}` : "";
    log(new Error(`Moving events: ${moved.toLocaleString("en")}${of}.`));
  };
}
