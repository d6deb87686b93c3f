import { expect, test } from "vitest";
import { eraseViewer } from "../../src/events/erase.js";
import { recordEvents } from "../../src/events/record/events.record.js";
import { claimOrders } from "../../src/orders/state/order.record.js";
import { readInterval } from "../../src/figures/intervals/intervals.js";
import { rebuildAnalytics } from "../../src/figures/totals/rebuild.js";
import { openTestApp } from "../support/app.js";
import { asInputs, expectedFigures, figuresOf, newShow, type ShowKey, someEvents } from "../support/figures.js";
import { storeWithShow, view } from "../support/events.js";
import { recordedOrders, sentOrder } from "../support/figures/orders.js";
import { everythingOf } from "../support/stored.js";
import { findLiveStream } from "../../src/shows/liveStream.js";
import { recorded } from "../support/shows.js";

const app = await openTestApp();

const viewerId = "viewer-23";

/** Every figure of the quarters of an hour of a show's first hour. */
async function intervalsOf({ storeId, lsId }: ShowKey): Promise<unknown> {
  const bounds = [0, 900, 1_800, 2_700, 3_600].map(
    (seconds) => new Date(Date.parse("2026-05-04T18:30:00Z") + seconds * 1_000),
  );
  const show = await findLiveStream(app.db, storeId, lsId);
  const read = bounds.slice(1).map(async (until, index) => {
    const span = { from: bounds[index] ?? until, until, productId: "p", isOfMinutes: false };
    const { seconds, sums, viewers } = readInterval(app.db, show, span);
    return { seconds, ...(await sums()), ...(await viewers()) };
  });
  return Promise.all(read);
}

/** Whether any row of a store names a viewer. */
async function isNamed(storeId: string, name = viewerId): Promise<boolean> {
  const rows = Object.values(await everythingOf(app, { id: storeId })).flat();
  return rows.some((row) => row.includes(`x${Buffer.from(name).toString("hex")}"`) || row.includes(`"${name}"`));
}

test("removes an erased viewer from every show of the store, and changes no figure, no duplicate and no rebuild", async () => {
  const first = await newShow(app.db);
  const second = await newShow(app.db, first.storeId);
  const other = await newShow(app.db);
  const events = someEvents(320);
  const own = events.filter((event) => event.viewerId === viewerId).length;
  expect(own).toBeGreaterThan(1);
  for (const { storeId, lsId } of [first, second, other]) await recordEvents(app.db, storeId, lsId, asInputs(events));
  const intervals = await intervalsOf(first);
  expect(JSON.stringify(intervals)).toMatch(/"newViewers":[1-9]/u);
  expect(await isNamed(first.storeId)).toBe(true);
  expect(await eraseViewer(app.db, first.storeId, viewerId)).toEqual({
    message: "The viewer was erased.",
    shows: 2,
    events: 2 * own,
  });
  expect(await isNamed(first.storeId)).toBe(false);
  expect(await isNamed(other.storeId), "of another store").toBe(true);
  for (const show of [first, second]) {
    expect(await figuresOf(app.db, show)).toEqual(expectedFigures(events));
    expect(await intervalsOf(show)).toEqual(intervals);
    expect(await recordEvents(app.db, show.storeId, show.lsId, asInputs(events))).toEqual({
      accepted: 0,
      duplicates: events.length,
    });
  }
  await rebuildAnalytics(app.db, first.storeId);
  for (const show of [first, second]) {
    expect(await figuresOf(app.db, show)).toEqual(expectedFigures(events));
    expect(await intervalsOf(show)).toEqual(intervals);
  }
  expect(await eraseViewer(app.db, first.storeId, viewerId)).toMatchObject({ shows: 0, events: 0 });
});

test("removes an erased viewer from orders, and from claims of orders that are not known yet", async () => {
  const { store } = await storeWithShow(app);
  await recordedOrders(store, [sentOrder("sent", 10, { viewerId: "sent-by-ann" }), sentOrder("claimed", 10)]);
  await claimOrders(app.db, store.id, new Map([["claimed", "claimed-by-ann"]]));
  await claimOrders(app.db, store.id, new Map([["unknown", "early-ann"]]));
  for (const name of ["sent-by-ann", "claimed-by-ann", "early-ann"]) {
    expect(await isNamed(store.id, name), name).toBe(true);
    await eraseViewer(app.db, store.id, name);
    expect(await isNamed(store.id, name), name).toBe(false);
  }
});

test("erases over GraphQL, and counts a viewer who returns as a new one", async () => {
  const { store, lsId } = await storeWithShow(app);
  await recorded(store, lsId, [view("a", { viewerId: "ann" })]);
  const erase = `mutation { eraseViewer(viewerId: "ann") { message shows events } }`;
  const { data } = await store.graphql(erase);
  expect(data.eraseViewer).toEqual({ message: "The viewer was erased.", shows: 1, events: 1 });
  await recorded(store, lsId, [view("b", { viewerId: "ann" })]);
  expect((await figuresOf(app.db, { storeId: store.id, lsId })).kpis.viewers.unique).toBe(2);
  const { errors } = await store.graphql(`mutation { eraseViewer(viewerId: " ") { shows } }`);
  expect(errors).toMatchObject([{ extensions: { code: "VALIDATION_FAILED" } }]);
});
