import { query } from "../server.js";
import { atMost, progress, type Row } from "../table.js";
import { sizes } from "./room.js";
import { heartbeats, showStart } from "./shoppers.js";
import { recordAll, saveShow, setStage, type Stage } from "./stage.js";

const clients = 8;
const showsEachYear = 4;
const audience = { viewers: 5_000, heartbeats: 10 };

/** How much the tables grow in a second year whose events come after the first one's were pruned. */
export async function growthRows(): Promise<Row[]> {
  const stage = await setStage();
  const empty = await totalSize(stage);
  const events = await recordYear(stage, "first");
  const afterFirst = await totalSize(stage);
  await endYear(stage, "first");
  const pruned = await stage.command("events", "prune", "--all-stores", "--before", new Date().toISOString());
  if (pruned.events !== events) throw new Error(`pruned ${pruned.events} of ${events}`);
  await query(stage.databaseUrl, "VACUUM"); // as autovacuum does in its time
  await recordYear(stage, "second");
  const afterSecond = await totalSize(stage);
  const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
  return [
    {
      work: `growth by ${events.toLocaleString("en")} events after as many were pruned, against the first growth`,
      values: [(afterSecond - afterFirst) / (afterFirst - empty)],
      digits: 2,
      detail: `${megabytes(afterSecond - afterFirst)} against ${megabytes(afterFirst - empty)}; half of the first shows are ENDED, half ARCHIVED`,
      bound: atMost(0.5, 0.2),
    },
  ];
}

async function recordYear(stage: Stage, year: string): Promise<number> {
  let events = 0;
  const start = showStart();
  for (let show = 0; show < showsEachYear; show += 1) {
    await saveShow(stage, `${year}-${show}`, start);
    events += await recordAll(stage, `${year}-${show}`, heartbeats(audience, start), clients);
  }
  progress(`storage: recorded the ${events.toLocaleString("en")} events of the ${year} year`);
  return events;
}

async function endYear(stage: Stage, year: string): Promise<void> {
  for (let show = 0; show < showsEachYear; show += 1) {
    const status = show % 2 === 0 ? "ENDED" : "ARCHIVED";
    await saveShow(stage, `${year}-${show}`, showStart(), { status, durationSeconds: 3_600 });
  }
}

async function totalSize({ databaseUrl }: Stage): Promise<number> {
  return [...(await sizes(databaseUrl)).values()].reduce((total, bytes) => total + bytes, 0);
}
