import { query } from "../server.js";
import { atLeast, progress, type Row } from "../table.js";
import { saveShow, setStage, storeEvents } from "./stage.js";

const rounds = 3;
const events = 1_000_000;
const viewers = 50_000;
const show = "show";

/** Events a second that `analytics rebuild` reads, with the time that the command takes to start. */
export async function rebuildRows(): Promise<Row[]> {
  const stage = await setStage();
  await saveShow(stage, show, new Date(Date.now() - 2 * 3_600_000));
  await storeEvents(stage, show, { count: events, viewers, minutes: 120 });
  await query(stage.databaseUrl, 'VACUUM ANALYZE "ShowEvent"');
  const rebuild = async () => {
    const start = performance.now();
    await stage.command("analytics", "rebuild", stage.store, show);
    const rate = (events * 1_000) / (performance.now() - start);
    progress(`storage: rebuilt ${Math.round(rate).toLocaleString("en")} events a second`);
    return rate;
  };
  const values: number[] = [];
  for (let round = 0; round < rounds; round += 1) values.push(await rebuild());
  const work = `rebuild of ${events.toLocaleString("en")} events of ${viewers.toLocaleString("en")} viewers: events a second`;
  return [{ work, values, digits: 0, unit: "/s", bound: atLeast(35_500, 50_000) }];
}
