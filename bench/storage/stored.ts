import { alternate } from "../load.js";
import { query } from "../server.js";
import { atLeast, progress, type Row } from "../table.js";
import { makeBatches, ourRequest, rateRounds, rateRow, rateViewers, timed } from "./rate.js";
import { crowd, showStart } from "./shoppers.js";
import { eventTable, fillTable, saveShow, setStage, type Stage, storeEvents } from "./stage.js";

const few = 1_000_000;
const heartbeats = 10;
const large = "large";
const small = "small";

/**
 * Events recorded a second beside so many stored ones against beside a million: in the show of nearly all of them, whose pages of
 * the index each batch meets anywhere, and in a show of a million that shares their tables.
 */
export async function storedRows(events: number): Promise<Row[]> {
  const alone = await stageWith(new Map([[small, few]]));
  const full = await stageWith(
    new Map([
      [large, events - few],
      [small, few],
    ]),
  );
  const crowded = crowd(rateViewers);
  const recordIn = (stage: Stage, show: string) => () =>
    timed(
      stage,
      makeBatches(crowded).map((batch) => ourRequest(stage, show, batch)),
    );
  const against = async (show: string) => alternate(rateRounds, recordIn(full, show), recordIn(alone, small));
  const [others, one] = [await against(small), await against(large)];
  const work = `events a second beside ${events.toLocaleString("en")} stored events against beside 1,000,000`;
  const bound = atLeast(0.8, 0.95);
  return [
    { ...rateRow(`${work}, in a show of 1,000,000`, others), bound },
    { ...rateRow(`${work}, in the show that has the others`, one), bound },
  ];
}

/** Shows of viewers who stay for ten heartbeats, as recording leaves them, on disk. */
async function stageWith(shows: ReadonlyMap<string, number>): Promise<Stage> {
  const stage = await setStage();
  const { databaseUrl } = stage;
  for (const id of shows.keys()) await saveShow(stage, id, showStart());
  await fillTable(stage, eventTable, async () => {
    for (const [id, count] of shows) {
      progress(`storage: storing ${count.toLocaleString("en")} events`);
      await storeEvents(stage, id, { count, viewers: Math.ceil(count / heartbeats) + 1, minutes: heartbeats });
    }
  });
  for (const id of shows.keys()) await stage.command("analytics", "rebuild", stage.store, id);
  await query(databaseUrl, "VACUUM ANALYZE");
  await query(databaseUrl, "CHECKPOINT");
  return stage;
}
