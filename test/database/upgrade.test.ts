import { expect, onTestFinished, test } from "vitest";
import type { ShopperEventInput } from "../../src/analytics/events/events.input.js";
import { recordEvents } from "../../src/analytics/events/events.record.js";
import { rebuildAnalytics } from "../../src/analytics/totals/rebuild.js";
import { migrate } from "../../src/database/migrations/migrate.js";
import { connect } from "../../src/database/open.js";
import { dumps, restore } from "../support/earlierVersion.js";
import { emptyDatabase } from "../support/ownDatabase.js";
import { figuresOf, type ShowKey } from "../support/figures.js";
import { givenDatabase } from "../support/database.js";

const { engine } = givenDatabase();

const sums = `
  SELECT "storeId", "liveStreamId", channel, sum(sales) AS sales, sum(orders) AS orders, sum(viewers) AS viewers,
    sum("cartViewers") AS "cartViewers", sum("viewSeconds") AS "viewSeconds"
  FROM "LiveStreamTotal" GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`;

interface Recorded extends ShopperEventInput {
  readonly storeId: string;
  readonly lsId: string;
}

/** By the tables of that version. */
const recorded = `
  SELECT "storeId", "liveStreamId" AS "lsId", id, type, channel, "viewerId", device, seconds::float8 AS seconds,
    amount::float8 AS amount, "productId", "occurredAt"
  FROM "ShopperEvent" ORDER BY "acceptedAt", position`;

test.each(dumps)("a database of an earlier version keeps every figure: %s", async (dump) => {
  const connection = await emptyDatabase("upgrade");
  const query = await restore(connection, dump);
  const before = await query(sums);
  const events: Recorded[] = await query(recorded);
  expect(events.length).toBeGreaterThan(200);

  expect(await migrate(connection, () => undefined)).not.toEqual([]);
  expect(await query(sums)).toEqual(before);
  const database = connect(engine, connection, () => undefined);
  onTestFinished(() => database.close());
  const db = database.client;
  const shows: ShowKey[] = (await db.liveStream.findMany()).map(({ storeId, id }) => ({ storeId, lsId: id }));
  const figures = () => Promise.all(shows.map((show) => figuresOf(db, show)));
  const atFirst = await figures();

  for (const { storeId, lsId } of shows) {
    const own = events.filter((event) => event.storeId === storeId && event.lsId === lsId);
    if (own.length === 0) continue;
    expect(await recordEvents(db, storeId, lsId, own), "every event is known").toEqual({
      accepted: 0,
      duplicates: own.length,
    });
    const { peakViewers } = await figuresOf(db, { storeId, lsId });
    const again = own.map((event): ShopperEventInput => ({
      ...event,
      id: `again ${event.id}`.slice(0, 255),
      seconds: 0,
    }));
    const seen = again.filter(({ type }) => type === "VIEW");
    await recordEvents(db, storeId, lsId, seen);
    const now = await figuresOf(db, { storeId, lsId });
    expect(now.peakViewers, "every viewer is known, and when they were there").toBe(peakViewers);
  }
  const isKnown = await figures();
  expect(isKnown).toEqual(atFirst);
  for (const storeId of new Set(shows.map((show) => show.storeId))) await rebuildAnalytics(db, storeId);
  expect(await figures()).toEqual(atFirst);
});
