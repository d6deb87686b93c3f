import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createTestStore, openTestApp } from "../support/app.js";
import { hookOf, woocommerceOrder } from "../support/figures/hooks.js";
import { unattributedOf } from "../support/figures/orders.js";
import { isLong } from "../support/run/tier.js";

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
    expect(await unattributedOf(store)).toEqual(expected(deliveries));
    const { data } = await store.graphql("{ orders { totalCount } }");
    expect(data.orders.totalCount).toBe(expected(deliveries).orders);
  };
  await fc.assert(fc.asyncProperty(history, run), { numRuns: isLong ? 100 : 5 });
});
