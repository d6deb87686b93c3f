import { describe, expect, test } from "vitest";
import type { RootDatabase } from "../../../src/database/client.js";
import { recordEvents } from "../../../src/events/record/events.record.js";
import { nameLimits } from "../../../src/events/record/countedNames.js";
import { rebuildAnalytics } from "../../../src/figures/totals/rebuild.js";
import { kpisOf } from "../../../src/figures/show/kpis.js";
import { readAnalytics } from "../../../src/figures/show/kpis.read.js";
import { openTestDatabase } from "../../support/app.js";
import { asInputs, expectedFigures, figuresOf, newShow, type ShowKey } from "../../support/figures.js";
import { type SentEvent, toldApart } from "../../support/oracle.js";

const { client: db } = openTestDatabase();

const kpisOfShow = async (database: RootDatabase, { storeId, lsId }: ShowKey) =>
  kpisOf((await readAnalytics(database, storeId, lsId)).totals);
const startMs = Date.parse("2026-05-04T18:30:00Z");

describe("a show keeps a limited number of names", () => {
  const cart = (name: string, fields: Partial<SentEvent> = {}): SentEvent => ({
    id: `${fields.channel ?? "LIVE"} ${name}`,
    type: "ADD_TO_CART",
    channel: "LIVE",
    viewerId: name,
    device: name,
    productId: name,
    occurredAt: new Date(startMs).toISOString(),
    ...fields,
  });

  test("the first devices of each channel and the first products; reading stays bounded", async () => {
    expect(nameLimits).toEqual({ devices: 1_000, sources: 50, products: 10_000 });
    const some = { devices: 10, sources: 50, products: 60 };
    const show = await newShow(db);
    const { storeId, lsId } = show;
    // Each viewer has one device.
    const sent = Array.from({ length: 90 }, (_, n) => {
      const name = `name ${n % 15}`;
      return cart(`name ${n}`, { viewerId: name, device: name });
    });
    for (const batch of [sent.slice(0, 40), sent.slice(40, 80), sent.slice(80)]) {
      await recordEvents(db, storeId, lsId, asInputs(batch), { limits: some });
    }
    const where = { storeId, liveStreamId: lsId, slot: -1 };
    expect(await db.liveStreamGroup.count({ where: { ...where, kind: "LIVE", name: { not: "other" } } })).toBe(10);
    expect(await db.liveStreamProduct.count({ where })).toBe(60);
    const figures = expectedFigures(toldApart(sent, some));
    expect(await figuresOf(db, show)).toEqual(figures);
    await rebuildAnalytics(db, storeId, lsId, some);
    expect(await figuresOf(db, show)).toEqual(figures);
  });

  test("no more than these under concurrent batches with new ones", async () => {
    const show = await newShow(db);
    const { storeId, lsId } = show;
    const batches = Array.from({ length: 8 }, (_, batch) =>
      Array.from({ length: 10 }, (__, n) => cart(`${batch} ${n}`)),
    );
    const few = { devices: 15, sources: 50, products: 12 };
    await Promise.all(
      batches.map((events) => recordEvents(db, storeId, lsId, asInputs(events), { limits: few, lockWaitMs: 15_000 })),
    );
    const where = { storeId, liveStreamId: lsId, slot: -1 };
    expect(await db.liveStreamGroup.count({ where: { ...where, kind: "LIVE", name: { not: "other" } } })).toBe(15);
    expect(await db.liveStreamProduct.count({ where })).toBe(12);
    const before = await figuresOf(db, show);
    expect(before.topProducts).toHaveLength(12);
    await rebuildAnalytics(db, storeId, lsId, few);
    expect(await figuresOf(db, show)).toEqual(before);
  });

  test("the first 50 sources of a show; viewers and orders of later ones are of `other`, also after a rebuild", async () => {
    const show = await newShow(db);
    const { storeId, lsId } = show;
    const sent = Array.from({ length: 60 }, (_, n): SentEvent[] => [
      { ...cart(`viewer ${n}`), device: null, source: `host-${n}.example` },
      {
        ...cart(`order ${n}`),
        type: "ORDER",
        amount: 1,
        viewerId: n % 2 === 0 ? `viewer ${n}` : null,
        source: `host-${n}.example`,
      },
    ]).flat();
    for (const batch of [sent.slice(0, 70), sent.slice(70)]) await recordEvents(db, storeId, lsId, asInputs(batch));
    const { sources } = await kpisOfShow(db, show);
    expect(sources).toHaveLength(51);
    expect(sources[0]).toEqual({ source: "other", viewers: 10, orders: 10, sales: 10 });
    expect(sources).toContainEqual({ source: "host-49.example", viewers: 1, orders: 1, sales: 1 });
    await rebuildAnalytics(db, storeId, lsId);
    expect((await kpisOfShow(db, show)).sources).toEqual(sources);
  });

  test("none of a refused batch", async () => {
    const show = await newShow(db);
    const few = { devices: 1, sources: 50, products: 1 };
    const early = cart("early", { occurredAt: "2026-01-01T00:00:00Z" });
    const refused = recordEvents(db, show.storeId, show.lsId, asInputs([early]), { limits: few });
    await expect(refused).rejects.toMatchObject({ code: "VALIDATION_FAILED" });
    await recordEvents(db, show.storeId, show.lsId, asInputs([cart("tv")]), { limits: few });
    expect((await figuresOf(db, show)).topProducts).toMatchObject([{ productId: "tv", carts: 1 }]);
  });
});
