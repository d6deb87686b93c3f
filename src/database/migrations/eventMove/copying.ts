import { setTimeout as sleep } from "node:timers/promises";
import { AppError } from "../../../errors.js";
import { changeTables, inSessionTransaction } from "../tableLocks.js";
import type { TurnLimits } from "../turn.js";
import { allowTriggers } from "./citus.sql.js";
import { compareShow } from "./compare.sql.js";
import {
  beginAgain,
  copiedTables,
  copyBatch,
  copyQueue,
  countMoved,
  discardShows,
  forgetShow,
  isStillMoved,
  lastOfBatch,
  nextShow,
  numberShows,
  planBatches,
  queueLength,
  removeCopies,
  rescanShows,
  setCopied,
  setState,
} from "./copy.sql.js";
import { createPace, type Pace, type PaceLimits } from "./pace.js";
import { isPieceMoving, type Piece, readPieces, type Session } from "./pieces.js";
import { createTrigger, hasTrigger } from "./tables.sql.js";

/** The switch begins with less in the queue. */
const queuedBeforeSwitch = 1_000;
const vacuumAfter = 100_000;
const progressMs = 10_000;
const pauseForMoveMs = 1_000;

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
  for (let progress: Progress | undefined; ;) {
    try {
      const pieces = await readPieces(session);
      progress ??= await createProgress(move, pieces);
      await requireTriggers(move, pieces);
      for (const piece of pieces) await copyPiece(move, piece, pace, progress);
      if (await isQueueBelow(pieces, queuedBeforeSwitch)) return;
    } catch (error) {
      if (!isPieceMoving(error)) throw error;
      await sleep(pauseForMoveMs);
    }
  }
}

export async function hasTriggers(pieces: readonly Piece[]): Promise<boolean> {
  for (const piece of pieces) if ((await piece.query(hasTrigger)).length === 0) return false;
  return true;
}

/** Puts the trigger on the table, or on all of its shards. To be run in a transaction. */
export async function watchInserts(session: Session): Promise<void> {
  await session.query(allowTriggers);
  await session.query(createTrigger);
}

/** Where a trigger was lost, nobody knows what was recorded since: it is made again, and then all shows are copied again. */
async function requireTriggers({ session, log, limits }: Move, pieces: readonly Piece[]): Promise<void> {
  if (await hasTriggers(pieces)) return;
  const restore = async () => {
    await watchInserts(session);
    for (const piece of pieces) await piece.query(rescanShows);
  };
  log(new Error("Moving events: the trigger on events was lost. It is made again, and all shows are compared again."));
  await changeTables(session, "the move of events", restore, log, limits);
}

async function copyPiece(move: Move, piece: Piece, pace: Pace, progress: Progress): Promise<void> {
  const { session } = move;
  let queued = 0;
  for (;;) {
    while ((await piece.query(numberShows, ["copying"])).length > 0);
    await piece.query(discardShows);
    await removeDiscarded(session, piece, pace);
    const drained = await pace.run(() => inSessionTransaction(session, () => copyQueued(session, piece, pace.rows)));
    queued += drained;
    if (queued >= vacuumAfter) {
      await session.query('VACUUM "EventMoveQueue"'); // batches would go through all that was removed
      queued = 0;
    }
    const copied = await pace.run(() => copyNext(session, piece, pace.rows));
    progress(copied);
    if (copied === 0 && !(await compareNext(piece)) && (await isQueueBelow([piece], queuedBeforeSwitch))) return;
  }
}

export async function isQueueBelow(pieces: readonly Piece[], events: number): Promise<boolean> {
  let queued = 0;
  for (const piece of pieces) queued += (await piece.query<{ queued: number }>(queueLength, [events]))[0]?.queued ?? 0;
  return queued < events;
}

/** To be run in a transaction. */
export async function copyQueued(session: Session, piece: Piece, rows: number): Promise<number> {
  for (const setting of planBatches) await session.query(setting);
  return (await piece.query<{ read: number }>(copyQueue, [rows]))[0]?.read ?? 0;
}

interface ShowCopy {
  readonly storeId: string;
  readonly show: number;
  readonly after: string;
  /** Null where the show is gone. */
  readonly id: string | null;
}

async function showIn(piece: Piece, state: string): Promise<ShowCopy | undefined> {
  return (await piece.query<ShowCopy>(nextShow, [state]))[0];
}

/** Copies the next events of a show. @returns how many there were, at least 1 unless all shows are copied */
async function copyNext(session: Session, piece: Piece, rowsMax: number): Promise<number> {
  const copy = await showIn(piece, "copying");
  if (copy === undefined) return 0;
  const { storeId, id, show, after } = copy;
  return inSessionTransaction(session, async () => {
    for (const setting of planBatches) await session.query(setting);
    const from = [storeId, id, show, after];
    const last = (await piece.query<{ id: string }>(lastOfBatch, [...from, rowsMax]))[0]?.id ?? null;
    const read = (await piece.query<{ read: number }>(copyBatch, [...from, last]))[0]?.read ?? 0;
    await piece.query(setCopied, [storeId, show, last ?? after, read, last === null ? "copied" : "copying"]);
    return Math.max(1, read);
  });
}

/** @returns whether there was a show to compare @throws {AppError} INTERNAL where it differs; the next run copies it again */
async function compareNext(piece: Piece): Promise<boolean> {
  const copy = await showIn(piece, "copied");
  if (copy === undefined) return false;
  const { storeId, id, show } = copy;
  const [figures = {}] = await piece.query<Record<string, string | number>>(compareShow, [storeId, id, show]);
  const different = Object.keys(figures)
    .filter((name) => name.startsWith("old"))
    .map((name) => name.slice(3))
    .filter((name) => figures[`old${name}`] !== figures[`new${name}`]);
  await piece.query(setState, [storeId, show, different.length === 0 ? "verified" : "discarded"]);
  if (different.length === 0) return true;
  if ((await piece.query(isStillMoved, [storeId, show])).length === 0) return true; // pruned or deleted meanwhile
  const told = different.map((name) => `${name.toLowerCase()} ${figures[`old${name}`]} and ${figures[`new${name}`]}`);
  const message = `The show ${id} of the store ${storeId} has other figures in the copied events: ${told.join(", ")}. The old tables stay in use. Run "vitrine analytics rebuild ${storeId} ${id}" of the previous version, and migrate again.`;
  throw new AppError("INTERNAL", message);
}

async function removeDiscarded(session: Session, piece: Piece, pace: Pace): Promise<void> {
  for (;;) {
    const copy = await showIn(piece, "discarded");
    if (copy === undefined) return;
    const key = [copy.storeId, copy.show];
    for (const table of copiedTables) {
      const remove = async () =>
        (await piece.query<{ rows: number }>(removeCopies(table), [...key, pace.rows]))[0]?.rows ?? 0;
      while ((await pace.run(remove)) > 0);
    }
    await inSessionTransaction(session, async () => {
      if ((await piece.query(forgetShow, key)).length === 0) await piece.query(beginAgain, key);
    });
  }
}

type Progress = (events: number) => void;

/** Logs how far the move is, now and then. */
async function createProgress({ log }: Move, pieces: readonly Piece[]): Promise<Progress> {
  let [moved, all] = [0, 0];
  for (const piece of pieces) {
    const [row] = await piece.query<{ moved: string; all: string }>(countMoved);
    moved += Number(row?.moved);
    all += Number(row?.all);
  }
  let toldAt = performance.now();
  return (events) => {
    moved += events;
    if (performance.now() - toldAt < progressMs) return;
    toldAt = performance.now();
    const of = all > moved ? ` of about ${all.toLocaleString("en")}` : "";
    log(new Error(`Moving events: ${moved.toLocaleString("en")}${of}.`));
  };
}
