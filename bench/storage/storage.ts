import { closeAll } from "../resources.js";
import type { Row } from "../table.js";
import { growthRows } from "./growth.js";
import { rateRows, storedRows } from "./rate.js";
import { rebuildRows } from "./rebuild.js";
import { audienceRows, roomRows } from "./room.js";
import { timelineRows } from "./timeline.js";
import { waitRows } from "./waits.js";

const events = process.env["BENCH_STORAGE_EVENTS"];
const parts: Readonly<Record<string, () => Promise<Row[]>>> = {
  room: roomRows,
  rate: rateRows,
  stored: () => storedRows(Number(events ?? 3_000_000)),
  timeline: timelineRows,
  growth: growthRows,
  rebuild: rebuildRows,
  waits: waitRows,
  audiences: () => audienceRows(Number(events ?? 1_000_000)),
};
/** Run only when asked for. */
const onlyByName = new Set(["audiences"]);
/** Parts to run. */
const wanted = process.env["BENCH_STORAGE"]?.split(",") ?? Object.keys(parts).filter((name) => !onlyByName.has(name));

/** What events take of disk, log and time, and what becomes of both as they grow many. */
export async function benchStorage(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const name of wanted) {
    const part = parts[name];
    if (part === undefined)
      throw new Error(`BENCH_STORAGE: no part ${name}; there are ${Object.keys(parts).join(", ")}.`);
    rows.push(...(await part()));
    await closeAll();
  }
  return rows;
}
