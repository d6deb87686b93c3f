import type { Request } from "autocannon";
import { deepStrictEqual } from "node:assert/strict";
import { createFloorEvents } from "../floor.events.js";
import { type Alternation, alternate, ratios, sendAll } from "../load.js";
import { postRequest } from "../requests.js";
import { query, type RunningService, startFloor } from "../server.js";
import { atLeast, plain, progress, type Row } from "../table.js";
import { batchEvents, crowd, mixedBatch } from "./shoppers.js";
import { recordOperation, saveShow, setStage, type Stage, storeEvents } from "./stage.js";

const clients = 8;
const batches = 40;
const rounds = 5;
const viewers = 50_000;
const hourMs = 3_600_000;
const show = "show";

/** Events recorded a second against one statement behind Fastify that does the least. */
export async function rateRows(): Promise<Row[]> {
  const stage = await setStage();
  await saveShow(stage, show, new Date());
  await query(stage.databaseUrl, createFloorEvents);
  const floor = await startFloor(stage.databaseUrl);
  const against = async (path: string, floorShow: string) => {
    progress(`storage: ${clients} clients record ${batches} batches of ${batchEvents}, as the floor does at ${path}`);
    const crowded = crowd(viewers);
    let pending: object[][] = [];
    // Both sides get the same events; whichever is first in a round makes them.
    const next = () => {
      const made = pending.length > 0 ? pending : makeBatches(crowded);
      pending = pending.length > 0 ? [] : made;
      return made;
    };
    return alternate(
      rounds,
      () =>
        timed(
          stage,
          next().map((events) => ourRequest(stage, events)),
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
    { ...row(`${work} events and totals`, plainChain), bound: atLeast(0.5, 0.8) },
    row(`${work} events, distinct viewers and totals`, chainWithViewers),
  ];
}

/** The same in a show of many stored events against one of a million. */
export async function storedRows(events: number): Promise<Row[]> {
  const [small, large] = [await stageWith(1_000_000), await stageWith(events)];
  const crowded = crowd(viewers);
  const recordIn = (stage: Stage) => () =>
    timed(
      stage,
      makeBatches(crowded).map((own) => ourRequest(stage, own)),
    );
  const found = await alternate(rounds, recordIn(large), recordIn(small));
  const work = `events a second in a show of ${events.toLocaleString("en")} stored events against one of 1,000,000`;
  return [{ ...row(work, found), bound: atLeast(0.8, 0.95) }];
}

function row(work: string, found: Alternation<number>): Row {
  const detail = `${plain(found.ours, 0, "/s")} against ${plain(found.floor, 0, "/s")}`;
  return { work, values: ratios(found, (rate) => rate), digits: 2, detail };
}

async function timed(service: RunningService, requests: Request[]): Promise<number> {
  const { requestsPerSecond } = await sendAll(service, requests, clients);
  return requestsPerSecond * batchEvents;
}

function makeBatches(crowded: readonly string[]): object[][] {
  return Array.from({ length: batches }, () => mixedBatch(crowded));
}

function ourRequest({ token }: Stage, events: object[]): Request {
  return postRequest("/graphql", token, { query: recordOperation, variables: { lsId: show, events } });
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

/** A show with events of viewers who stayed for ten heartbeats. What it has stored lies on disk, and is in order. */
async function stageWith(events: number): Promise<Stage> {
  const stage = await setStage();
  await saveShow(stage, show, new Date(Date.now() - 2 * hourMs));
  progress(`storage: storing ${events.toLocaleString("en")} events`);
  await storeEvents(stage, show, { count: events, viewers: events / 10, minutes: 120 });
  await query(
    stage.databaseUrl,
    `INSERT INTO "ShowViewer" ("storeId", show, "viewerId", hour, minutes, "newMinutes", seen, "newSeen", "liveDevice", "replayDevice")
     SELECT s."storeId", s.number, decode(md5(i::text), 'hex'), floor(extract(epoch FROM s."startedAt") / 3600)::int, 1, 0, 1, 0, 'mobile', ''
     FROM "LiveStream" AS s, generate_series(0, $3::int - 1) AS i WHERE s."storeId" = $1 AND s.id = $2`,
    [stage.store, show, events / 10],
  );
  await query(stage.databaseUrl, "VACUUM ANALYZE");
  await query(stage.databaseUrl, "CHECKPOINT");
  return stage;
}
