import { setTimeout as sleep } from "node:timers/promises";
import { Prisma } from "../../generated/prisma/client.js";
import type { Database } from "../client.js";
import { isLockTimeout } from "../errors.js";
import { nodesOf } from "../engine.js";
import type { StoreNodes } from "./nodes.js";
import { queryOnNode } from "./onNode.js";
import { beingMoved } from "./onNode.sql.js";

const waitMsDefault = 5_000;
const pauseMs = 50;
/** Then the next caller notices it anew. */
const watchMs = 60_000;

/** For each database, the stores that are being moved to another node. */
const moves = new WeakMap<StoreNodes, Map<string, Promise<void>>>();

/** Whether the error, or its cause, is that the store is being moved with its writes blocked. Nothing was changed. */
export function isBeingMoved(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return (isLockTimeout(error) && error.message.includes(beingMoved)) || isBeingMoved(error.cause);
}

/**
 * Retries atomic work after a move of the store's shards. Callers wait without a connection, since a store that holds as many as
 * it may makes others of its node wait: one statement at a time finds out whether the move has ended.
 *
 * @throws what the work throws, also where the store is still being moved after `waitMs`
 */
export async function retryAfterMove<Result>(
  db: Database,
  storeId: string,
  work: () => Promise<Result>,
  waitMs = waitMsDefault,
): Promise<Result> {
  const deadline = performance.now() + waitMs;
  for (;;) {
    await waitForMove(db, storeId, deadline - performance.now());
    try {
      return await work();
    } catch (error) {
      if (!isBeingMoved(error) || performance.now() > deadline) throw error;
      noteMove(db, storeId);
    }
  }
}

/** Waits until the store is no longer being moved, as far as that is known, for at most `waitMs`. */
export async function waitForMove(db: Database, storeId: string, waitMs: number): Promise<void> {
  const nodes = nodesOf(db);
  const move = nodes && moves.get(nodes)?.get(storeId);
  if (move === undefined) return;
  const given = new AbortController();
  await Promise.race([move, sleep(Math.max(0, waitMs), undefined, { signal: given.signal }).catch(() => undefined)]);
  given.abort();
}

/** Lets others of the store wait until it has been moved. @param db not a transaction */
export function noteMove(db: Database, storeId: string): void {
  const nodes = nodesOf(db);
  if (nodes === undefined) return;
  const ofDatabase = moves.get(nodes) ?? new Map<string, Promise<void>>();
  moves.set(nodes, ofDatabase);
  if (ofDatabase.has(storeId)) return;
  ofDatabase.set(
    storeId,
    watch(db, storeId).finally(() => ofDatabase.delete(storeId)),
  );
}

async function watch(db: Database, storeId: string): Promise<void> {
  const end = performance.now() + watchMs;
  do {
    await sleep(pauseMs);
    try {
      await queryOnNode(db, storeId, Prisma.sql`SELECT 1 AS one`, []);
      return;
    } catch (error) {
      if (!isBeingMoved(error)) return; // the callers will see
    }
  } while (performance.now() < end);
}
