import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { graphql, query } from "../server.js";
import { atMost, percentile, plain, progress, type Row } from "../table.js";
import { recordOperation, saveShow, setStage, type Stage, storeEvents } from "./stage.js";

const rounds = 3;
const quietMs = 5_000;
const prunedEvents = 200_000;
const batchEvents = 100;
const pauseMs = 10;
/** As many minutes as make each batch write a hundred rows of totals: after every ten batches they are folded. */
const spreadMinutes = 100;
const minuteMs = 60_000;

interface Seen {
  readonly longestMs: number;
  readonly p99Ms: number;
}

/** What one recorder waits for while totals are folded, and while the events of another show are pruned. */
export async function waitRows(): Promise<Row[]> {
  const stage = await setStage();
  const start = new Date(Date.now() - 2 * spreadMinutes * minuteMs);
  await saveShow(stage, "live", start);
  await during(stage, 1, () => sleep(quietMs)); // code is compiled, connections are made
  const [quiet, folding, pruning]: [Seen[], Seen[], Seen[]] = [[], [], []];
  for (let round = 0; round < rounds; round += 1) {
    const past = `past-${round}`;
    await archivedShow(stage, past, start);
    quiet.push(await during(stage, 1, () => sleep(quietMs)));
    folding.push(await during(stage, spreadMinutes, () => sleep(quietMs)));
    pruning.push(
      await during(stage, spreadMinutes, async () => {
        const before = new Date().toISOString();
        const { events } = await stage.command("events", "prune", stage.store, past, "--before", before);
        if (events !== prunedEvents) throw new Error(`pruned ${events}`);
      }),
    );
    progress(`storage: waits ${JSON.stringify([quiet[round], folding[round], pruning[round]])}`);
  }
  const longest = (seen: Seen[]) => seen.map(({ longestMs }) => longestMs);
  const p99 = (seen: Seen[]) =>
    plain(
      seen.map(({ p99Ms }) => p99Ms),
      1,
      "ms",
    );
  const row = (work: string, seen: Seen[]): Row => ({
    work: `longest wait of a recorder of ${batchEvents} events ${work}`,
    values: longest(seen),
    digits: 1,
    unit: "ms",
    detail: `99th percentile ${p99(seen)}; without either ${plain(longest(quiet), 1, "ms")} and ${p99(quiet)}`,
    bound: atMost(100, 30),
  });
  return [
    row("while its totals are folded after every ten batches", folding),
    row(`while besides ${prunedEvents.toLocaleString("en")} events are pruned`, pruning),
  ];
}

async function archivedShow(stage: Stage, id: string, startedAt: Date): Promise<void> {
  await saveShow(stage, id, startedAt);
  await storeEvents(stage, id, { count: prunedEvents, viewers: 20_000, minutes: 60 });
  await stage.command("analytics", "rebuild", stage.store, id);
  await saveShow(stage, id, startedAt, { status: "ARCHIVED", durationSeconds: 3_600 });
  await query(stage.databaseUrl, "VACUUM ANALYZE");
  await query(stage.databaseUrl, "CHECKPOINT"); // it would come while something is measured
}

/** Records batch after batch until the work is done. */
async function during(stage: Stage, minutes: number, work: () => Promise<unknown>): Promise<Seen> {
  const waits: number[] = [];
  const running = { isDone: false };
  const done = work().finally(() => {
    running.isDone = true;
  });
  const viewers = Array.from({ length: 1_000 }, () => randomUUID());
  for (let batch = 0; !running.isDone; batch += 1) {
    const events = makeBatch(viewers, batch, minutes);
    const begin = performance.now();
    await graphql(stage, recordOperation, { lsId: "live", events });
    waits.push(performance.now() - begin);
    await sleep(pauseMs);
  }
  await done;
  return { longestMs: Math.max(...waits), p99Ms: percentile(waits, 0.99) };
}

function makeBatch(viewers: readonly string[], batch: number, minutes: number): object[] {
  const now = Date.now();
  return Array.from({ length: batchEvents }, (_, index) => {
    const viewerId = viewers[(batch * batchEvents + index) % viewers.length];
    const occurredAt = new Date(now - (index % minutes) * minuteMs).toISOString();
    return { id: randomUUID(), type: "VIEW", channel: "LIVE", viewerId, seconds: 1, occurredAt };
  });
}
