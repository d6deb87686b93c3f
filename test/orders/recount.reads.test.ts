// @engine postgresql
import { expect, test } from "vitest";
import { recountPage, setAttribution } from "../../src/orders/attribution/recount.js";
import { createTestStore, openTestApp } from "../support/app.js";
import { view } from "../support/events.js";
import { netOf, readOrder, recordedOrders, sentOrder, sweptOrders, unattributedOf } from "../support/figures/orders.js";
import { recorded, saved } from "../support/shows.js";

const app = await openTestApp({ analyticsRateLimit: 0 });

test("no read waits for a page of orders that are counted anew, nor for those who hold it up", async () => {
  const store = await createTestStore(app);
  const { id } = await saved(store);
  await recorded(store, id, [view("a", { occurredAt: "2026-05-04T18:40:00.000Z" })]);
  await recordedOrders(store, [sentOrder("1", 10, { viewerId: "v1" }), sentOrder("2", 5, { viewerId: "v1" })]);
  await setAttribution(app.db, store.id, { rule: "LAST_SHOW", windowHours: 168 });
  let page: Promise<unknown> = Promise.resolve();
  await app.db.$transaction(async (transaction) => {
    await transaction.$queryRaw`SELECT FROM "ShopOrder" WHERE "storeId" = ${store.id} AND id = '1' FOR UPDATE`;
    page = recountPage(app.db, store.id).catch((error: unknown) => error); // waits for the order
    expect(await netOf(store, id)).toMatchObject({ sales: 0 });
    expect(await unattributedOf(store)).toMatchObject({ sales: 15 });
    expect(await readOrder(store, "1")).toMatchObject({ isAttributed: false });
  });
  await page;
  await sweptOrders(app.db, store.id);
  expect(await netOf(store, id)).toMatchObject({ sales: 15, orders: 2 });
});
