import * as fc from "fast-check";
import { expect, test } from "vitest";
import { setAttribution } from "../../../src/analytics/orders/attribution/recount.js";
import { createTestStore, openTestApp } from "../../support/app.js";
import { view } from "../../support/events.js";
import { hookOf, woocommerceOrder } from "../../support/figures/hooks.js";
import { netOf, unattributedOf } from "../../support/figures/orders.js";
import { isLong } from "../../support/run/tier.js";
import { recorded, saved } from "../../support/shows.js";

// Orders of marketplaces: whichever of a family comes first, and however many come at once, each sale counts once.

const app = await openTestApp();

const viewer = { key: "vitrine_viewer", value: "v1" };
const divided = fc.constantFrom(
  { key: "has_sub_order", value: "1" },
  { key: "_has_sub_order", value: true },
  { key: "has_mvx_sub_order", value: "yes" },
);
const undivided = fc.constantFrom({ key: "has_sub_order", value: "0" }, { key: "has_sub_order", value: "" }, viewer);

const [parent, child, vendors, other] = [1, 2, 3, 4];
interface Delivery {
  readonly topic: string;
  readonly payload: Record<string, unknown>;
}
const order = (id: number, fields: object, meta: object = viewer): Delivery => ({
  topic: "order.updated",
  payload: woocommerceOrder(id, { total: `${id * 10}.00`, meta_data: [meta, viewer], line_items: [], ...fields }),
});
const first = order(parent, {});
const always = [
  first,
  order(child, { parent_id: parent, created_via: "checkout" }),
  order(vendors, { parent_id: parent, created_via: "dokan" }),
  order(other, { parent_id: 99, created_via: "deposit" }),
];
const more = fc.oneof(
  divided.map((meta) => order(parent, { date_modified_gmt: "2026-05-05T10:00:00" }, meta)),
  undivided.map((meta) => order(parent, { date_modified_gmt: "2026-05-05T11:00:00" }, meta)),
  fc.constantFrom<Delivery>(
    { topic: "order.deleted", payload: { id: parent } },
    { ...first, topic: "order.restored" },
    ...always,
  ),
);
const history = fc
  .array(more, { maxLength: 4 })
  .chain((added) => fc.shuffledSubarray([...always, ...added], { minLength: always.length + added.length }))
  .chain((deliveries) => fc.record({ deliveries: fc.constant(deliveries), together: fc.integer({ min: 1, max: 4 }) }));

/** From the rule as it is written: sales, refunds and orders. */
function expected(deliveries: readonly Delivery[]) {
  const isDivided = deliveries.some(
    ({ payload }) =>
      payload["id"] === parent &&
      (payload["meta_data"] as { key: string; value: unknown }[] | undefined)?.some(
        ({ key, value }) => key.includes("sub_order") && value !== "0" && value !== "",
      ),
  );
  const ends = deliveries.filter(({ topic }) => topic === "order.deleted" || topic === "order.restored");
  const refunds = ends.at(-1)?.topic === "order.deleted" ? 10 : 0;
  return { orders: isDivided ? 2 : 3, sales: isDivided ? 50 : 70, refunds };
}

test("parts of an order count for nothing, also if they come first; deposits count; in any order, twice, and deleted", async () => {
  const run = async ({ deliveries, together }: { deliveries: readonly Delivery[]; together: number }) => {
    const store = await createTestStore(app);
    await setAttribution(app.db, store.id, { rule: "LAST_SHOW", windowHours: 168 });
    const show = (await saved(store)).id;
    await recorded(store, show, [view("a", { occurredAt: "2026-05-04T18:50:00.000Z" })]);
    const { deliver } = await hookOf(app, store, "woocommerce");
    // The time at which deletions and restorations are received decides: nothing comes beside them.
    for (let at = 0; at < deliveries.length;) {
      const isAlone = (one: Delivery | undefined) => one !== undefined && one.topic !== "order.updated";
      const next = deliveries.slice(at, at + together);
      const until = next.findIndex(isAlone);
      const batch = until === -1 ? next : next.slice(0, Math.max(1, until));
      const answers = await Promise.all(batch.map(({ topic, payload }) => deliver(topic, payload)));
      expect(answers.map(({ status }) => status)).toEqual(batch.map(() => 200));
      at += batch.length;
    }
    const { orders, sales, refunds } = expected(deliveries);
    expect(await netOf(store, show)).toEqual({ sales, refunds, net: sales - refunds, orders });
    expect(await unattributedOf(store)).toEqual({ orders: 0, sales: 0, refunds: 0 });
    const { data } = await store.graphql("{ orders { totalCount } }");
    expect(data.orders.totalCount).toBe(orders);
  };
  await fc.assert(fc.asyncProperty(history, run), { numRuns: isLong ? 100 : 6 });
});
