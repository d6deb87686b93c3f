import { type Parts, partRows } from "../parts.js";
import type { Row } from "../table.js";
import { growthRows } from "./growth.js";
import { rateRows } from "./rate.js";
import { rebuildRows } from "./rebuild.js";
import { audienceRows, roomRows } from "./room.js";
import { storedRows } from "./stored.js";
import { timelineRows } from "./timeline.js";
import { waitRows } from "./waits.js";

const events = process.env["BENCH_STORAGE_EVENTS"];
const numbers = (name: string, byDefault: readonly number[]) => process.env[name]?.split(",").map(Number) ?? byDefault;
/** For a moment, for some minutes, and for an hour. */
const stays = numbers("BENCH_STORAGE_HEARTBEATS", [1, 6, 60]);
const uuidVersions = numbers("BENCH_STORAGE_UUID", [4]).map((version) => (version === 7 ? 7 : 4));
const before = Number(process.env["BENCH_STORAGE_BEFORE"] ?? 0);
const parts: Parts = {
  room: roomRows,
  rate: rateRows,
  stored: () => storedRows(Number(events ?? 3_000_000)),
  timeline: timelineRows,
  growth: growthRows,
  rebuild: rebuildRows,
  waits: waitRows,
  audiences: () => audienceRows({ events: Number(events ?? 1_000_000), stays, uuidVersions, before }),
};
/** Run only when asked for. */
const onlyByName = new Set(["audiences"]);

/** What events take of disk, log and time, and what becomes of both as they grow many. */
export async function benchStorage(): Promise<Row[]> {
  const byDefault = Object.keys(parts).filter((name) => !onlyByName.has(name));
  return partRows("BENCH_STORAGE", parts, byDefault);
}
