import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { recordEvents } from "../../../src/analytics/events/events.record.js";
import { foldTotals } from "../../../src/analytics/totals/fold.js";
import { rebuildAnalytics } from "../../../src/analytics/totals/rebuild.js";
import type { OpenDatabase } from "../../../src/database/open.js";
import { testDatabase } from "../../support/app.js";
import { ofTest } from "../../support/citus/recording.js";
import { asInputs, expectedFigures, figuresOf, newShow, type ShowKey, someEvents } from "../../support/figures.js";
import { accepted, type SentEvent } from "../../support/oracle.js";

let database: OpenDatabase;
let db: OpenDatabase["client"];
beforeAll(() => {
  database = testDatabase();
  db = database.client;
});
afterAll(() => database.close());

/** Records events in batches of this size, one after the other. */
async function recordAll({ storeId, lsId }: ShowKey, events: readonly SentEvent[], batchEvents = 100): Promise<void> {
  for (let start = 0; start < events.length; start += batchEvents) {
    await recordEvents(db, storeId, lsId, asInputs(events.slice(start, start + batchEvents)));
  }
  await foldTotals(db, storeId, lsId);
}

/** All that is kept of a show's events, each kind of row in the order of its key, slots added up. */
async function kept({ storeId, lsId }: ShowKey): Promise<Record<string, unknown>> {
  const queries = {
    viewers: `SELECT channel, "viewerId", CASE WHEN channel <> 'ANY' THEN device END AS device
      FROM "LiveStreamViewer" $ ORDER BY 1, 2`,
    cartViewers: `SELECT channel, "viewerId" FROM "LiveStreamCartViewer" $ ORDER BY 1, 2`,
    presence: `SELECT minute, "viewerId" FROM "LiveStreamPresence" $ ORDER BY 1, 2`,
    totals: `SELECT channel, trim_scale(sum(sales))::text AS sales, sum(orders)::int AS orders, sum(viewers)::int AS viewers,
        sum("cartViewers")::int AS "cartViewers", trim_scale(sum("viewSeconds"))::text AS "viewSeconds"
      FROM "LiveStreamTotal" $ GROUP BY 1 ORDER BY 1`,
    devices: `SELECT channel, device, sum(viewers)::int AS viewers FROM "LiveStreamDevice" $
      GROUP BY 1, 2 HAVING sum(viewers) <> 0 ORDER BY 1, 2`,
    minutes: `SELECT minute, sum(viewers)::int AS viewers, sum(carts)::int AS carts, sum(orders)::int AS orders,
        trim_scale(sum(sales))::text AS sales FROM "LiveStreamMinute" $ GROUP BY 1 ORDER BY 1`,
    spans: `SELECT seconds, "startsAt", viewers::int AS viewers, carts::int AS carts, orders::int AS orders,
        trim_scale(sales)::text AS sales FROM "LiveStreamSpan" $ ORDER BY 1, 2`,
    products: `SELECT "productId", sum(carts)::int AS carts FROM "LiveStreamProduct" $
      GROUP BY 1 HAVING sum(carts) <> 0 ORDER BY 1`,
  };
  const rows: Record<string, unknown> = {};
  for (const [name, query] of Object.entries(queries)) {
    const statement = query.replace("$", `WHERE "storeId" = $1 AND "liveStreamId" = $2`);
    rows[name] = await db.$queryRawUnsafe(statement, storeId, lsId);
  }
  return rows;
}

/** Runs a statement with the show's store and id as its first two parameters. */
async function change({ storeId, lsId }: ShowKey, statement: string): Promise<number> {
  return db.$executeRawUnsafe(ofTest(statement), storeId, lsId);
}

const ofShow = `WHERE "storeId" = $1 AND "liveStreamId" = $2`;

test("batches that arrive while a show is rebuilt again and again are counted once each", async () => {
  const show = await newShow(db);
  // Each viewer has one device, so that the figures do not depend on which batch comes first.
  const events = someEvents(10_000).map((event) => ({ ...event, device: `device of ${event.viewerId ?? "nobody"}` }));
  const sent: SentEvent[] = [];
  const rebuilt = new AbortController();
  // They go on for as long as there is rebuilding, so that no rebuild comes after them and mends what an earlier one did.
  const write = async (writer: number) => {
    for (let start = writer * 25; start < events.length && !rebuilt.signal.aborted; start += 100) {
      const batch = events.slice(start, start + 50); // overlaps its neighbour's
      sent.push(...batch);
      await recordEvents(db, show.storeId, show.lsId, asInputs(batch), { lockWaitMs: 60_000 });
    }
  };
  const rebuild = async () => {
    for (let round = 0; round < 5; round += 1) await rebuildAnalytics(db, show.storeId, show.lsId);
  };
  await Promise.all([rebuild().finally(() => rebuilt.abort()), ...[0, 1, 2, 3].map(write)]);
  expect(await figuresOf(db, show)).toEqual(expectedFigures(accepted(sent)));
});

describe("which shows are rebuilt", () => {
  const spoil = (show: ShowKey) => change(show, `UPDATE "LiveStreamTotal" SET orders = orders + 1 ${ofShow}`);

  test("the one that is named, and no other", async () => {
    const one = await newShow(db);
    const other = await newShow(db, one.storeId);
    for (const show of [one, other]) {
      await recordAll(show, someEvents(20));
      await spoil(show);
    }
    const before = await kept(other);
    await rebuildAnalytics(db, one.storeId, one.lsId);
    expect(await figuresOf(db, one)).toEqual(expectedFigures(someEvents(20)));
    expect(await kept(other)).toEqual(before);
  });

  test("all of the store where none is named, in the order of their ids; other stores' are left alone", async () => {
    const one = await newShow(db);
    const shows = [one, await newShow(db, one.storeId)];
    const foreign = await newShow(db);
    for (const show of [...shows, foreign]) {
      await recordAll(show, someEvents(20));
      await spoil(show);
    }
    const before = await kept(foreign);
    const rebuilt = shows.map(({ lsId }) => lsId).toSorted();
    expect(await rebuildAnalytics(db, one.storeId)).toEqual({ rebuilt, pruned: [] });
    for (const show of shows) expect(await figuresOf(db, show)).toEqual(expectedFigures(someEvents(20)));
    expect(await kept(foreign)).toEqual(before);
  });

  test("a show that the store does not have is refused", async () => {
    const [{ storeId }, foreign] = [await newShow(db), await newShow(db)];
    for (const lsId of ["nowhere", foreign.lsId, "\0"]) {
      await expect(rebuildAnalytics(db, storeId, lsId)).rejects.toMatchObject({ code: "LIVE_STREAM_NOT_FOUND" });
    }
  });
});
