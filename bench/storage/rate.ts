import type { Request } from "autocannon";
import { deepStrictEqual } from "node:assert/strict";
import { createFloorEvents } from "../floor.events.js";
import { type Alternation, alternate, ratios, sendAll } from "../load.js";
import { postRequest } from "../requests.js";
import { query, type RunningService, startFloor } from "../server.js";
import { atLeast, plain, progress, type Row } from "../table.js";
import { batchEvents, crowd, mixedBatch } from "./shoppers.js";
import { recordOperation, saveShow, setStage, type Stage } from "./stage.js";

const clients = 8;
const batches = 40;
export const rateRounds = 5;
export const rateViewers = 50_000;
const show = "show";

/** Events recorded a second against one statement behind Fastify that does the least. */
export async function rateRows(): Promise<Row[]> {
  const stage = await setStage();
  await saveShow(stage, show, new Date());
  await query(stage.databaseUrl, createFloorEvents);
  const floor = await startFloor(stage.databaseUrl);
  const against = async (path: string, floorShow: string) => {
    progress(`storage: ${clients} clients record ${batches} batches of ${batchEvents}, as the floor does at ${path}`);
    const crowded = crowd(rateViewers);
    let pending: object[][] = [];
    // Both sides get the same events; whichever is first in a round makes them.
    const next = () => {
      const made = pending.length > 0 ? pending : makeBatches(crowded);
      pending = pending.length > 0 ? [] : made;
      return made;
    };
    return alternate(
      rateRounds,
      () =>
        timed(
          stage,
          next().map((events) => ourRequest(stage, show, events)),
        ),
      () =>
        timed(
          floor,
          next().map((events) => postRequest(path, stage.token, { show: floorShow, events })),
        ),
    );
  };
  const plainChain = await against("/events", "plain");
  await checkTotals(stage, "plain");
  const chainWithViewers = await against("/events/viewers", "with viewers");
  const work = `events a second, one show, ${clients} clients, batches of ${batchEvents.toLocaleString("en")}, against a raw chain of`;
  return [
    { ...rateRow(`${work} events and totals`, plainChain), bound: atLeast(0.5, 0.8) },
    rateRow(`${work} events, distinct viewers and totals`, chainWithViewers),
  ];
}

export function rateRow(work: string, found: Alternation<number>): Row {
  const detail = `${plain(found.ours, 0, "/s")} against ${plain(found.floor, 0, "/s")}`;
  return { work, values: ratios(found, (rate) => rate), digits: 2, detail };
}

/** @returns events a second */
export async function timed(service: RunningService, requests: Request[]): Promise<number> {
  const { requestsPerSecond } = await sendAll(service, requests, clients);
  return requestsPerSecond * batchEvents;
}

export function makeBatches(crowded: readonly string[]): object[][] {
  return Array.from({ length: batches }, () => mixedBatch(crowded));
}

export function ourRequest({ token }: Stage, lsId: string, events: object[]): Request {
  return postRequest("/graphql", token, { query: recordOperation, variables: { lsId, events } });
}

/** @throws {AssertionError} where the two sides have counted differently */
async function checkTotals({ databaseUrl, store }: Stage, floorShow: string): Promise<void> {
  const of = `channel, sum(sales)::float8 AS sales, sum(orders)::int AS orders`;
  const ours = await query(
    databaseUrl,
    `SELECT ${of}, sum("viewSeconds")::float8 AS seconds FROM "LiveStreamTotal"
     WHERE "storeId" = $1 AND "liveStreamId" = $2 AND channel <> 'ANY' GROUP BY channel ORDER BY channel`,
    [store, show],
  );
  const theirs = await query(
    databaseUrl,
    `SELECT ${of}, sum(seconds)::float8 AS seconds FROM floor_total WHERE show = $1 GROUP BY channel ORDER BY channel`,
    [floorShow],
  );
  deepStrictEqual(ours, theirs);
}
