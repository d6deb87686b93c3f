import { randomUUID } from "node:crypto";
import { query } from "../server.js";
import { atMost, progress, type Row } from "../table.js";
import { type Audience, heartbeats, showStart } from "./shoppers.js";
import {
  eventTable,
  fillTable,
  recordAll,
  saveShow,
  setStage,
  type Stage,
  storeEvents,
  storeViewers,
} from "./stage.js";
import { readWal } from "./wal.js";

/**
 * One, since an hour of a show is recorded in a minute: with more, the heartbeats of a viewer would come while the one before is
 * still being recorded, which keeps old versions of the viewer's row.
 */
const clients = 1;
/** Some ten megabytes of log. */
const batchesPerReading = 20;

/** What an event takes in each table and index, in bytes. */
interface Room {
  readonly relation: string;
  readonly disk: number;
  readonly wal: number;
  /** Part of `wal`. */
  readonly fullPages: number;
}

/** Disk and log of an event: of viewers who are new, and of those who stay and are known already. */
export async function roomRows(): Promise<Row[]> {
  const stage = await setStage();
  const start = showStart();
  const [first, second] = [randomUUID(), randomUUID()];
  await saveShow(stage, first, start);
  await saveShow(stage, second, start);
  const newcomers = await measure(stage, first, heartbeats({ viewers: 200_000, heartbeats: 1 }, start));
  const beats = heartbeats({ viewers: 10_000, heartbeats: 61 }, start);
  await recordAll(stage, second, firstBatches(beats, 10), 1);
  const stayers = await measure(stage, second, beats);
  return [
    ...rowsOf("200,000 events of new viewers", newcomers, { disk: atMost(450, 300), wal: atMost(800, 500) }),
    ...rowsOf("600,000 heartbeats of 10,000 viewers", stayers, { disk: atMost(200, 120), wal: atMost(400, 250) }),
  ];
}

/** What is measured of audiences. */
interface Audiences {
  /** How many events each audience sends. */
  readonly events: number;
  /** Heartbeats of a viewer, one audience each. */
  readonly stays: readonly number[];
  readonly uuidVersions: readonly (4 | 7)[];
  /** Events that the show has before, of other viewers, with random ids. */
  readonly before: number;
}

/** The same of so many events of viewers with so many heartbeats each, in a show of their own or one that has events. */
export async function audienceRows({ events, stays, uuidVersions, before }: Audiences): Promise<Row[]> {
  const rows: Row[] = [];
  for (const stay of stays) {
    const stage = await setStage();
    const [start, show] = [showStart(), randomUUID()];
    await saveShow(stage, show, start);
    if (before > 0) await fillShow(stage, show, { events: before, viewers: Math.round(before / stay) });
    for (const uuidVersion of uuidVersions) {
      const audience: Audience = { viewers: Math.round(events / stay), heartbeats: stay, uuidVersion };
      rows.push(...rowsOf(nameOf(audience, before), await measure(stage, show, heartbeats(audience, start)), {}));
    }
    await stage.stop();
  }
  return rows;
}

function nameOf({ viewers, heartbeats: stay, uuidVersion }: Audience, before: number): string {
  const events = `${(viewers * stay).toLocaleString("en")} events of ${viewers.toLocaleString("en")} viewers`;
  const after = before > 0 ? ` after ${before.toLocaleString("en")} others` : "";
  return `${events} with ${stay} heartbeat${stay === 1 ? "" : "s"} each, UUIDs of version ${uuidVersion}${after}`;
}

async function fillShow(stage: Stage, show: string, { events, viewers }: { events: number; viewers: number }) {
  progress(`storage: storing ${events.toLocaleString("en")} events`);
  await fillTable(stage, eventTable, () => storeEvents(stage, show, { count: events, viewers, minutes: 60 }));
  await storeViewers(stage, show, viewers);
}

function* firstBatches(batches: Iterator<object[]>, count: number): Generator<object[]> {
  for (let index = 0; index < count; index += 1) {
    const { value, done } = batches.next();
    if (done !== true) yield value;
  }
}

async function measure(stage: Stage, lsId: string, batches: Iterator<object[]>): Promise<Room[]> {
  const before = await sizes(stage.databaseUrl);
  const wal = await readWal(stage.databaseUrl);
  const begin = performance.now();
  const events = await recordAll(stage, lsId, batches, clients, (sent) =>
    sent % batchesPerReading === 0 ? wal.read() : undefined,
  );
  const seconds = (performance.now() - begin) / 1_000;
  progress(`storage: recorded ${events.toLocaleString("en")} events in ${seconds.toFixed(0)} s`);
  const logged = await wal.end();
  const after = await sizes(stage.databaseUrl);
  return [...after]
    .map(([relation, size]) => ({
      relation,
      disk: (size - (before.get(relation) ?? 0)) / events,
      wal: (logged.get(relation)?.total ?? 0) / events,
      fullPages: (logged.get(relation)?.fullPages ?? 0) / events,
    }))
    .filter((part) => part.disk + part.wal > 0);
}

/** Bytes of each table with its maps and TOAST, without indexes, and of each index. */
export async function sizes(databaseUrl: string): Promise<Map<string, number>> {
  const rows = await query(
    databaseUrl,
    `SELECT relname AS relation, CASE relkind WHEN 'r' THEN pg_table_size(oid) ELSE pg_relation_size(oid) END AS bytes
     FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'i') ORDER BY relname`,
  );
  return new Map(rows.map(({ relation, bytes }) => [relation, Number(bytes)]));
}

function rowsOf(work: string, room: readonly Room[], bounds: { disk?: Row["bound"]; wal?: Row["bound"] }): Row[] {
  const sum = (value: (part: Room) => number) => room.reduce((total, part) => total + value(part), 0);
  const byRelation = (value: (part: Room) => number) =>
    room
      .filter((part) => value(part) >= 0.5)
      .toSorted((a, b) => value(b) - value(a))
      .map((part) => `${part.relation} ${value(part).toFixed(0)}`)
      .join(", ");
  const images = sum(({ fullPages }) => fullPages).toFixed(0);
  return [
    {
      work: `disk of an event: ${work}`,
      values: [sum(({ disk }) => disk)],
      digits: 0,
      unit: "B",
      detail: byRelation(({ disk }) => disk),
      ...(bounds.disk && { bound: bounds.disk }),
    },
    {
      work: `WAL of an event: ${work}`,
      values: [sum(({ wal }) => wal)],
      digits: 0,
      unit: "B",
      detail: `${byRelation(({ wal }) => wal)}; ${images} B of it are images of whole pages`,
      ...(bounds.wal && { bound: bounds.wal }),
    },
  ];
}
