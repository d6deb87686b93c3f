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
import { isPartitionMoving, type Partition, readPartitions, type Session } from "./partitions.js";
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
      const partitions = await readPartitions(session);
      progress ??= await createProgress(move, partitions);
      await requireTriggers(move, partitions);
      for (const partition of partitions) await copyPartition(move, partition, pace, progress);
      if (await isQueueBelow(partitions, queuedBeforeSwitch)) return;
    } catch (error) {
      if (!isPartitionMoving(error)) throw error;
      await sleep(pauseForMoveMs);
    }
  }
}

export async function hasTriggers(partitions: readonly Partition[]): Promise<boolean> {
  for (const partition of partitions) if ((await partition.query(hasTrigger)).length === 0) return false;
  return true;
}

/** Puts the trigger on the table, or on all of its shards. To be run in a transaction. */
export async function watchInserts(session: Session): Promise<void> {
  await session.query(allowTriggers);
  await session.query(createTrigger);
}

/** Where a trigger was lost, nobody knows what was recorded since: it is made again, and then all shows are copied again. */
async function requireTriggers({ session, log, limits }: Move, partitions: readonly Partition[]): Promise<void> {
  if (await hasTriggers(partitions)) return;
  const restore = async () => {
    await watchInserts(session);
    for (const partition of partitions) await partition.query(rescanShows);
  };
  log(new Error("Moving events: the trigger on events was lost. It is made again, and all shows are compared again."));
  await changeTables(session, "the move of events", restore, log, limits);
}

async function copyPartition(move: Move, partition: Partition, pace: Pace, progress: Progress): Promise<void> {
  const { session } = move;
  let queued = 0;
  for (;;) {
    while ((await partition.query(numberShows, ["copying"])).length > 0);
    await partition.query(discardShows);
    await removeDiscarded(session, partition, pace);
    const drained = await pace.run(() =>
      inSessionTransaction(session, () => copyQueued(session, partition, pace.rows)),
    );
    queued += drained;
    if (queued >= vacuumAfter) {
      await session.query('VACUUM "EventMoveQueue"'); // batches would go through all that was removed
      queued = 0;
    }
    const copied = await pace.run(() => copyNext(session, partition, pace.rows));
    progress(copied);
    if (copied === 0 && !(await compareNext(partition)) && (await isQueueBelow([partition], queuedBeforeSwitch)))
      return;
  }
}

export async function isQueueBelow(partitions: readonly Partition[], events: number): Promise<boolean> {
  let queued = 0;
  for (const partition of partitions)
    queued += (await partition.query<{ queued: number }>(queueLength, [events]))[0]?.queued ?? 0;
  return queued < events;
}

/** To be run in a transaction. */
export async function copyQueued(session: Session, partition: Partition, rows: number): Promise<number> {
  for (const setting of planBatches) await session.query(setting);
  return (await partition.query<{ read: number }>(copyQueue, [rows]))[0]?.read ?? 0;
}

interface ShowCopy {
  readonly storeId: string;
  readonly show: number;
  readonly after: string;
  /** Null where the show is gone. */
  readonly id: string | null;
}

async function showIn(partition: Partition, state: string): Promise<ShowCopy | undefined> {
  return (await partition.query<ShowCopy>(nextShow, [state]))[0];
}

/** Copies the next events of a show. @returns how many there were, at least 1 unless all shows are copied */
async function copyNext(session: Session, partition: Partition, rowsMax: number): Promise<number> {
  const copy = await showIn(partition, "copying");
  if (copy === undefined) return 0;
  const { storeId, id, show, after } = copy;
  return inSessionTransaction(session, async () => {
    for (const setting of planBatches) await session.query(setting);
    const from = [storeId, id, show, after];
    const last = (await partition.query<{ id: string }>(lastOfBatch, [...from, rowsMax]))[0]?.id ?? null;
    const read = (await partition.query<{ read: number }>(copyBatch, [...from, last]))[0]?.read ?? 0;
    await partition.query(setCopied, [storeId, show, last ?? after, read, last === null ? "copied" : "copying"]);
    return Math.max(1, read);
  });
}

/** @returns whether there was a show to compare @throws {AppError} INTERNAL where it differs; the next run copies it again */
async function compareNext(partition: Partition): Promise<boolean> {
  const copy = await showIn(partition, "copied");
  if (copy === undefined) return false;
  const { storeId, id, show } = copy;
  const [figures = {}] = await partition.query<Record<string, string | number>>(compareShow, [storeId, id, show]);
  const different = Object.keys(figures)
    .filter((name) => name.startsWith("old"))
    .map((name) => name.slice(3))
    .filter((name) => figures[`old${name}`] !== figures[`new${name}`]);
  await partition.query(setState, [storeId, show, different.length === 0 ? "verified" : "discarded"]);
  if (different.length === 0) return true;
  if ((await partition.query(isStillMoved, [storeId, show])).length === 0) return true; // pruned or deleted meanwhile
  const told = different.map((name) => `${name.toLowerCase()} ${figures[`old${name}`]} and ${figures[`new${name}`]}`);
  const message = `The show ${id} of the store ${storeId} has other figures in the copied events: ${told.join(", ")}. The old tables stay in use. Run "vitrine analytics rebuild ${storeId} ${id}" of the previous version, and migrate again.`;
  throw new AppError("INTERNAL", message);
}

async function removeDiscarded(session: Session, partition: Partition, pace: Pace): Promise<void> {
  for (;;) {
    const copy = await showIn(partition, "discarded");
    if (copy === undefined) return;
    const key = [copy.storeId, copy.show];
    for (const table of copiedTables) {
      const remove = async () =>
        (await partition.query<{ rows: number }>(removeCopies(table), [...key, pace.rows]))[0]?.rows ?? 0;
      while ((await pace.run(remove)) > 0);
    }
    await inSessionTransaction(session, async () => {
      if ((await partition.query(forgetShow, key)).length === 0) await partition.query(beginAgain, key);
    });
  }
}

type Progress = (events: number) => void;

/** Logs how far the move is, now and then. */
async function createProgress({ log }: Move, partitions: readonly Partition[]): Promise<Progress> {
  let [moved, all] = [0, 0];
  for (const partition of partitions) {
    const [row] = await partition.query<{ moved: string; all: string }>(countMoved);
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
