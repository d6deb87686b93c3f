import { expect, test } from "vitest";
import { setAttribution } from "../../src/orders/attribution/recount.js";
import { createTestStore, openTestApp } from "../support/app.js";
import { hookOf, woocommerceOrder } from "../support/figures/hooks.js";
import { csvOf, filesOf } from "../support/figures/orderFiles.js";
import { netOf, readOrder, unattributedOf } from "../support/figures/orders.js";
import { bulk, paths, product } from "../support/products.js";
import { recorded, saved } from "../support/shows.js";

// Orders as shops have sent them, whose figures were wrong. Others of them are in hooks.money.test.ts and files/.

const app = await openTestApp();

/** A store that counts by carts, in one of whose shows v1 put a product into the cart. */
async function storeWithCart(productId: string) {
  const store = await createTestStore(app);
  await setAttribution(app.db, store.id, { rule: "CART", windowHours: 168 });
  const show = (await saved(store)).id;
  const occurredAt = "2026-05-04T18:50:00.000Z";
  await recorded(store, show, [
    { id: "a", type: "ADD_TO_CART", channel: "LIVE", viewerId: "v1", productId, occurredAt },
  ]);
  const { deliver } = await hookOf(app, store, "woocommerce");
  const meta_data = [{ key: "vitrine_viewer", value: "v1" }];
  return {
    store,
    show,
    deliver: (fields: object) => deliver("order.created", woocommerceOrder(1, { meta_data, ...fields })),
  };
}

test("a total of 2.69 with a line of 2.24 and 0.43 of tax is 2.69 for the show, and nothing is left for none", async () => {
  const { store, show, deliver } = await storeWithCart("mug");
  await deliver({ total: "2.69", line_items: [{ sku: "mug", quantity: 1, total: "2.24", total_tax: "0.43" }] });
  expect(await netOf(store, show)).toMatchObject({ sales: 2.69, orders: 1 });
  expect(await unattributedOf(store)).toEqual({ orders: 0, sales: 0, refunds: 0 });
});

test("a line of variation 12 of product 11 without a sku is of product 12 of the catalog, and counts where that was carted", async () => {
  const { store, show, deliver } = await storeWithCart("12");
  await store.post(paths.bulk, bulk([product("12", { sku: "small" })]));
  const line = { product_id: 11, variation_id: 12, sku: "", quantity: 1, total: "29.35", total_tax: "0.00" };
  await deliver({ line_items: [line] });
  expect(await readOrder(store, "1")).toMatchObject({ lines: [{ productId: "12" }] });
  expect(await netOf(store, show)).toMatchObject({ sales: 29.35, orders: 1 });
});

test("two lines with product_id 0 are two products by name", async () => {
  const { store, deliver } = await storeWithCart("mug");
  const line = (name: string) => ({ product_id: 0, sku: "", name, quantity: 1, total: "5.00", total_tax: "0.00" });
  await deliver({ line_items: [line("Old mug"), line("Old hat")] });
  const { lines } = await readOrder(store, "1");
  expect(lines.map(({ productId }: { productId: string }) => productId)).toEqual(["Old mug", "Old hat"]);
});

test("an order of 119 by a hook and then 100 as N. Revenue in a file is no refund of 19: the file is refused", async () => {
  const { store, deliver } = await storeWithCart("mug");
  await deliver({ total: "119.00" });
  const row = { Date: "2026-05-04 21:00:00", "Order ID": "1", "N. Revenue": "100.00", Status: "completed" };
  expect(await filesOf(app, store).refusal(csvOf(Object.keys(row), [row]))).toMatch(
    /^Line 1: The column "N. Revenue" lacks tax and shipping, so it is not the total of an order\./u,
  );
  expect(await readOrder(store, "1")).toMatchObject({ amount: 119, refunded: 0 });
});
