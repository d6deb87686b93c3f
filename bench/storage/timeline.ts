import { graphql, query } from "../server.js";
import { alternate, ratios } from "../load.js";
import { atMost, plain, progress, type Row } from "../table.js";
import { saveShow, setStage, type Stage, storeEvents } from "./stage.js";

const rounds = 7;
const readsPerRound = 60;
const days = 30;
const buckets = days * 24;
const manyEvents = 1_000_000;
const fewEvents = 1_000;
const operation = `query ($lsId: String!) { liveStreamAnalytics(lsId: $lsId) { peakConcurrentViewers
  timeline(bucketSeconds: 3600) { startsAt viewers carts orders sales } } }`;

/** A timeline of 30 days and the peak: a million events against a thousand in as many buckets. */
export async function timelineRows(): Promise<Row[]> {
  const stage = await setStage();
  const [small, large] = [await makeShow(stage, "few", fewEvents), await makeShow(stage, "many", manyEvents)];
  const found = await alternate(
    rounds,
    () => timeReads(stage, large),
    () => timeReads(stage, small),
  );
  const counted = manyEvents.toLocaleString("en");
  return [
    {
      work: `timeline of ${buckets} hourly buckets and peak: time at ${counted} events over ${days} days against ${fewEvents.toLocaleString("en")}`,
      values: ratios(found, (millis) => millis),
      digits: 2,
      detail: `${plain(found.ours, 1, "ms")} against ${plain(found.floor, 1, "ms")} a read`,
      bound: atMost(1.3, 1),
    },
  ];
}

async function makeShow(stage: Stage, id: string, events: number): Promise<string> {
  const begin = Math.floor(Date.now() / 3_600_000) * 3_600_000 - days * 86_400_000;
  await saveShow(stage, id, new Date(begin));
  await storeEvents(stage, id, { count: events, viewers: 50_000, minutes: days * 24 * 60 });
  await query(stage.databaseUrl, "VACUUM ANALYZE");
  progress(`storage: rebuilding ${events.toLocaleString("en")} events of ${days} days`);
  await stage.command("analytics", "rebuild", stage.store, id);
  return id;
}

/** @returns milliseconds for a read */
async function timeReads(stage: Stage, lsId: string): Promise<number> {
  const start = performance.now();
  for (let read = 0; read < readsPerRound; read += 1) {
    const { liveStreamAnalytics: answer } = await graphql(stage, operation, { lsId });
    if (answer.timeline.length !== buckets) throw new Error(`${answer.timeline.length} buckets`);
  }
  return (performance.now() - start) / readsPerRound;
}
