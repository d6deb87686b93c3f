import { setTimeout as sleep } from "node:timers/promises";
import { query } from "../server.js";
import { atMost, plain, progress, type Row } from "../table.js";
import { callStores, type Seen } from "./load.js";
import type { Stage, StoreOfNode } from "./stage.js";

export const callersOfStore = 6;
const warmUpMs = 5_000;
const afterMs = 10_000;

export interface Found {
  readonly own: Seen;
  readonly elsewhere: Seen;
}

/** The stores to which nothing happens. */
interface Others {
  /** How many of them are busy. */
  readonly storesMax: number;
  readonly callersOfOthers: number;
}

/** @param isHit whether something happens to a store */
export async function during(
  stage: Stage,
  isHit: (store: StoreOfNode) => boolean,
  work: () => Promise<void>,
  { storesMax, callersOfOthers }: Others = { storesMax: 1, callersOfOthers: callersOfStore },
): Promise<Found> {
  const elsewhere = stage.stores.filter((store) => !isHit(store)).slice(0, storesMax);
  const callers = [
    callStores(stage, stage.stores.filter(isHit), callersOfStore),
    callStores(stage, elsewhere, callersOfOthers),
  ];
  await sleep(warmUpMs);
  for (const { forget } of callers) forget();
  await work();
  await sleep(afterMs);
  const [own, others] = await Promise.all(callers.map(({ end }) => end()));
  if (own === undefined || others === undefined) throw new Error("There are two kinds of stores.");
  progress(`  its stores: ${JSON.stringify(own)}`);
  progress(`  others: ${JSON.stringify(others)}`);
  await checkStored(stage, own.accepted + others.accepted);
  return { own, elsewhere: others };
}

const countedBefore = new WeakMap<Stage, number>();

/** @throws {Error} where an accepted event was not stored */
export async function checkStored(stage: Stage, accepted: number): Promise<void> {
  let stored = 0;
  for (const { store } of stage.stores) {
    const [row] = await query(stage.databaseUrl, `SELECT count(*)::int FROM "ShowEvent" WHERE "storeId" = $1`, [store]);
    stored += row.count;
  }
  const added = stored - (countedBefore.get(stage) ?? 0);
  countedBefore.set(stage, stored);
  progress(`  ${accepted} events accepted, ${added} stored`);
  if (added < accepted) throw new Error(`${accepted} events were accepted and ${added} stored.`);
}

export function rowsOf(work: string, { own, elsewhere }: Found, waitMs?: number): Row[] {
  const failed = Object.values(elsewhere.failed).reduce((sum, count) => sum + count, 0);
  const detail = `of ${elsewhere.calls}; of ${own.calls} calls of its stores failed ${JSON.stringify(own.failed)}`;
  return [
    { work: `${work}: failed calls of stores elsewhere`, values: [failed], digits: 0, detail, bound: atMost(0, 0) },
    {
      work: `${work}: longest call elsewhere`,
      values: [elsewhere.longestMs],
      digits: 0,
      unit: "ms",
      detail: `99th percentile ${plain([elsewhere.p99Ms], 0, "ms")}`,
      ...(waitMs !== undefined && { bound: atMost(waitMs, waitMs / 4) }),
    },
  ];
}
