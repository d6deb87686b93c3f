// @tier all
import { expect, test } from "vitest";
import { ago, fromNow } from "../../support/clock.js";
import { openAppInBrowser, type TestPage } from "../../support/browser/browser.js";
import { until } from "../../support/until.js";
import { openShop, type Shop } from "../../support/browser/shop.js";

const { app, browser } = await openAppInBrowser({ analyticsRateLimit: 0, collectRateLimit: 0 });

const cart = (page: TestPage["page"], productId: string) =>
  page.evaluate(`vitrine.push(["addToCart", "${productId}"])`);
const storedKeys = (page: TestPage["page"]): Promise<string[]> => page.evaluate("Object.keys(localStorage)");
/** What is kept in the browser, but for the viewer. */
const kept = async (page: TestPage["page"]) =>
  (await storedKeys(page)).filter((key) => key !== "vitrine:viewer").length;
const arrived = (shop: Shop, events: number) =>
  until(async () => (await shop.storedEvents()) === events, `${events} events`);
/** Different ids that were sent: as many as are stored if none is lost, and none counts twice. */
const ids = (shop: Shop) => new Set(shop.sent.flatMap(({ events }) => events.map(({ id }) => id))).size;

test("events recorded while the service drops every request arrive later, each once", async () => {
  const shop = await openShop(app);
  shop.set("drop");
  const opened = await shop.open(browser);
  await until(() => shop.sent.length > 0, "the first try");
  for (const product of ["a", "b", "c"]) await cart(opened.page, product);
  await until(() => shop.sent.length > 1, "the second try");
  expect(await shop.storedEvents()).toBe(0);
  expect(await kept(opened.page)).toBe(4);
  shop.set("forward");
  await arrived(shop, 4);
  expect(ids(shop)).toBe(4);
  await until(async () => (await kept(opened.page)) === 0, "nothing more to be kept");
  await opened.close();
});

test("an event whose response is lost is sent again, and counts once", async () => {
  const shop = await openShop(app);
  shop.set("lose the answer");
  const opened = await shop.open(browser);
  await until(() => shop.sent.length > 1, "the second try");
  shop.set("forward");
  await until(async () => (await kept(opened.page)) === 0, "the answer");
  expect([await shop.storedEvents(), ids(shop)]).toEqual([1, 1]);
  await opened.close();
});

test("an offline browser sends its events as soon as it is online again", async () => {
  const shop = await openShop(app);
  const opened = await shop.open(browser);
  await arrived(shop, 1);
  await opened.page.context().setOffline(true);
  for (const product of ["a", "b"]) await cart(opened.page, product);
  await until(async () => (await kept(opened.page)) === 2, "both to be kept");
  await opened.page.context().setOffline(false);
  await arrived(shop, 3);
  expect(ids(shop)).toBe(3);
  await opened.close();
});

test("the next page sends what a closed tab could not, including what it handed to a beacon", async () => {
  const shop = await openShop(app);
  shop.set("drop");
  const opened = await shop.open(browser);
  await until(() => shop.sent.length > 0, "the first try");
  await cart(opened.page, "a");
  await opened.page.evaluate(`document.querySelector("video").play()`);
  await until(async () => Number(await opened.page.evaluate("playedSeconds()")) > 0.5, "half a second");
  const url = opened.page.url();
  const next = await opened.page.context().newPage();
  await opened.page.close();
  shop.set("forward");
  await next.goto(url);
  await until(
    async () => (await kept(next)) === 0 && (await shop.storedEvents()) > 3,
    "two views, a cart, and the seconds",
  );
  expect(await shop.storedEvents()).toBe(ids(shop));
  expect((await shop.kpis()).avgViewTime.live).toBeGreaterThan(0.3);
  await opened.close();
});

test("events of a closed tab arrive also from a shop whose pages send no referrer", async () => {
  const shop = await openShop(app, { "referrer-policy": "no-referrer" });
  const opened = await shop.open(browser);
  await arrived(shop, 1);
  await opened.page.evaluate(`document.querySelector("video").play()`);
  await until(async () => Number(await opened.page.evaluate("playedSeconds()")) > 0.5, "half a second");
  await opened.page.close();
  // Firefox plays on between the two signs of a closed tab, so that a second beacon may have the last tenth of a second.
  await until(async () => (await shop.storedEvents()) > 1, "the seconds");
  expect((await shop.kpis()).avgViewTime.live).toBeGreaterThan(0.3);
  await opened.close();
});

test("an event that the service refuses affects no other, and a wrong clock loses none", async () => {
  const shop = await openShop(app);
  const opened = await shop.open(browser, "");
  const kept1 = { show: shop.lsId, type: "ADD_TO_CART", channel: "LIVE", viewerId: "v" };
  const early = ago(3_600_000).getTime();
  const events = [
    { ...kept1, id: "good", productId: "a", at: early },
    { ...kept1, id: "bad", productId: " ", at: early },
    { ...kept1, id: "tomorrow", productId: "c", at: fromNow(86_400_000).getTime() },
    { ...kept1, id: "old", productId: "c", at: ago(2 * 86_400_000).getTime() },
  ];
  await opened.page.evaluate(
    `for (const one of ${JSON.stringify(events)}) localStorage.setItem("vitrine:" + one.id, JSON.stringify(one))`,
  );
  await opened.page.reload();
  await arrived(shop, 2);
  await until(async () => (await kept(opened.page)) === 0, "nothing more to be kept");
  expect(ids(shop), "the old one was not sent").toBe(3);
  await opened.close();
});

test("at most 200 events are kept, and they are sent in requests that the service accepts", async () => {
  const shop = await openShop(app);
  shop.set("drop");
  const opened = await shop.open(browser);
  const name = "ü".repeat(250);
  await opened.page.evaluate(`for (let n = 0; n < 300; n++) vitrine.push(["addToCart", n + "${name}"])`);
  await until(async () => (await kept(opened.page)) > 0, "some to be kept");
  expect(await kept(opened.page)).toBeLessThanOrEqual(200);
  shop.set("forward");
  await arrived(shop, 200);
  expect(Math.max(...shop.sent.map(({ events }) => events.length))).toBeLessThanOrEqual(100);
  await opened.close();
});
