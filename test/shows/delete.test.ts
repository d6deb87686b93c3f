import { describe, expect, test } from "vitest";
import { recordEvents } from "../../src/events/record/events.record.js";
import { deleteLiveStream } from "../../src/shows/liveStream.delete.js";
import { saveLiveStream } from "../../src/shows/liveStream.save.js";
import { createTestStore, openConnections, openTestApp } from "../support/app.js";
import { order, view } from "../support/events.js";
import { asInputs, expectedFigures, figuresOf, newShow, someEvents } from "../support/figures.js";
import { pin, savedMoments } from "../support/figures/moments.js";
import { graphqlError } from "../support/problems.js";
import { analyticsPath, deleteShow, record, recorded, saved } from "../support/shows.js";
import { everythingOf } from "../support/stored.js";
import { subscribe } from "../support/http/subscribe.js";

const app = await openTestApp({ analyticsRateLimit: 0 });

const events = someEvents(120);
const message = "The store has no live stream with this id.";
const notFound = graphqlError("LIVE_STREAM_NOT_FOUND", message, [
  { code: "LIVE_STREAM_NOT_FOUND", message, path: ["lsId"] },
]);

describe("deleting a show", () => {
  test("without events leaves nothing of it, and a second time it is not found", async () => {
    const store = await createTestStore(app);
    const before = await everythingOf(app, store);
    for (const status of ["LIVE", "ENDED", "ARCHIVED"]) {
      const { id } = await saved(store, { status });
      await savedMoments(store, id, [pin("pin", 0)]);
      const deleted = { message: `Live stream ${id} was deleted.`, events: 0 };
      expect(await store.graphql(deleteShow, { lsId: id })).toEqual({ data: { deleteLiveStream: deleted } });
      expect(await everythingOf(app, store)).toEqual(before);
      const { errors } = await store.graphql(deleteShow, { lsId: id });
      expect(errors).toEqual([{ ...notFound, path: ["deleteLiveStream"], locations: expect.any(Array) }]);
    }
  });

  test("with events is refused, and nothing is changed; with force, everything of it is removed and nothing else", async () => {
    const store = await createTestStore(app);
    const other = await saved(store, { id: "other" });
    await recorded(store, other.id, events);
    const before = await everythingOf(app, store);
    const { id } = await saved(store, { status: "LIVE" });
    await recorded(store, id, events);
    await savedMoments(store, id, [pin("pin", 0)]);
    const full = await everythingOf(app, store);
    const refusal = "The show has events. With force, they are deleted too.";
    const refused = graphqlError("VALIDATION_FAILED", refusal, [
      { code: "VALIDATION_FAILED", message: refusal, path: ["force"] },
    ]);
    for (const force of [undefined, null, false]) {
      const { errors } = await store.graphql(deleteShow, { lsId: id, force });
      expect(errors).toEqual([{ ...refused, path: ["deleteLiveStream"], locations: expect.any(Array) }]);
    }
    expect(await everythingOf(app, store)).toEqual(full);
    const { data } = await store.graphql(deleteShow, { lsId: id, force: true });
    expect(data.deleteLiveStream.events).toBe(events.length);
    expect(await everythingOf(app, store)).toEqual(before);
    expect((await store.get(analyticsPath(id))).status).toBe(404);
    expect((await store.graphql(record, { lsId: id, events })).errors).toMatchObject([{ message }]);
  });

  test("whose events were pruned needs force too: it has totals", async () => {
    const store = await createTestStore(app);
    const before = await everythingOf(app, store);
    const { id } = await saved(store);
    await recorded(store, id, [order("o", 5)]);
    await app.db.showEvent.deleteMany({ where: { storeId: store.id } });
    expect((await store.graphql(deleteShow, { lsId: id })).errors).toMatchObject([{ path: ["deleteLiveStream"] }]);
    await store.graphql(deleteShow, { lsId: id, force: true });
    expect(await everythingOf(app, store)).toEqual(before);
  });

  test("in many batches removes all, and after an interruption another call removes the rest", async () => {
    const { storeId, lsId } = await newShow(app.db);
    await recordEvents(app.db, storeId, lsId, asInputs(events));
    const database = openConnections();
    let sent = 0;
    database.probe.aroundQuery = (sql, send) => {
      if (sql.includes(`DELETE FROM "ShowEvent"`) && (sent += 1) === 3) throw new Error("killed");
      return send();
    };
    const options = { force: true, batchRows: 20 };
    await expect(deleteLiveStream(database.client, storeId, lsId, options)).rejects.toThrow("killed");
    expect(await app.db.showEvent.count({ where: { storeId } })).toBe(events.length - 40);
    expect(await deleteLiveStream(app.db, storeId, lsId, options)).toMatchObject({ events: events.length - 40 });
    const rows = await everythingOf(app, { id: storeId });
    expect(Object.keys(rows).filter((table) => rows[table]?.length !== 0)).toEqual(["Store"]);
  });

  test("ends its subscriptions with LIVE_STREAM_NOT_FOUND, and those of other shows go on", async () => {
    const store = await createTestStore(app);
    const [{ id }, { id: other }] = [await saved(store), await saved(store)];
    const leaving = new AbortController();
    const query = "subscription ($lsId: String!) { liveStreamAnalytics(lsId: $lsId) { id kpis { orders { total } } } }";
    const [values, others] = [id, other].map((lsId) =>
      subscribe(app, store, { query, variables: { lsId } }, leaving.signal),
    ) as [ReturnType<typeof subscribe>, ReturnType<typeof subscribe>];
    expect([(await values.next()).value.data.liveStreamAnalytics.id, (await others.next()).value.errors]).toEqual([
      id,
      undefined,
    ]);
    await store.graphql(deleteShow, { lsId: id });
    expect((await values.next()).value.errors).toMatchObject([{ extensions: { code: "LIVE_STREAM_NOT_FOUND" } }]);
    expect((await values.next()).done).toBe(true);
    await recorded(store, other, [order("o", 5)]);
    expect((await others.next()).value.data.liveStreamAnalytics.kpis.orders.total).toBe(1);
    leaving.abort();
    await expect.poll(() => app.feed.watchers).toBe(0);
  });

  test("lets its id be used anew: the new show counts its own events and names, in this process and in others", async () => {
    const { storeId, lsId } = await newShow(app.db);
    const other = openConnections();
    const limits = { devices: 2, sources: 50, products: 2 };
    for (const client of [app.db, other.client]) {
      await recordEvents(client, storeId, lsId, asInputs(events), { limits }); // both know that there are enough names
    }
    await deleteLiveStream(app.db, storeId, lsId, { force: true });
    const startedAt = new Date("2026-05-04T18:30:00Z");
    await saveLiveStream(app.db, storeId, { id: lsId, name: "Anew", status: "LIVE", startedAt });
    const occurredAt = "2026-05-04T18:31:00Z";
    const [first, second] = [
      view("a", { viewerId: "a", device: "tv", occurredAt }),
      view("b", { viewerId: "b", device: "watch", occurredAt }),
    ];
    await recordEvents(app.db, storeId, lsId, asInputs([first]), { limits });
    await recordEvents(other.client, storeId, lsId, asInputs([second]), { limits });
    expect(await figuresOf(app.db, { storeId, lsId })).toEqual(expectedFigures([first, second]));
  });
});
