// @tier all
import { expect, test } from "vitest";
import { openAppInBrowser, type TestPage } from "../../support/browser/browser.js";
import { openShop, type Shop } from "../../support/browser/shop.js";
import { type Place, player, queue, showPages, tag } from "../../support/browser/showPages.js";
import { until } from "../../support/until.js";

const { app, browser } = await openAppInBrowser({ analyticsRateLimit: 0, collectRateLimit: 0 });
const { openPage, secondsOf, seen, expectCleanEnd } = showPages(app, browser);

const push = (page: TestPage["page"], ...command: readonly unknown[]) =>
  page.evaluate(`vitrine.push(${JSON.stringify(command)})`);
const pushed = (...commands: readonly (readonly unknown[])[]) => `push=${encodeURIComponent(JSON.stringify(commands))}`;
const withAttributes = (attributes: string) => `attributes=${encodeURIComponent(attributes)}`;
const eventsOf = (shop: Shop) => shop.sent.flatMap(({ events }) => events);
const known = (page: TestPage["page"]) =>
  page.evaluate(`[vitrine.viewer(), localStorage.getItem("vitrine:viewer")]`) as Promise<[string, string | null]>;
const claims = (shop: Shop) => eventsOf(shop).filter(({ type }) => type === "CLAIM");

test("init, consent and identify of the queue come before the views of attributes, and every id is that of events", async () => {
  const shop = await openShop(app);
  const calls = pushed(["addToCart", "shirt"], ["consent", true], ["identify", "customer-7"], ["identify", "guest"]);
  const required = withAttributes('data-consent="required" data-watch="video"');
  const opened = await shop.open(browser, `${calls}&${required}`);
  await until(async () => (await shop.storedEvents()) === 3, "two views and a cart");
  expect(eventsOf(shop).map(({ type, viewerId }) => [type, viewerId])).toEqual([
    ["VIEW", "customer-7"],
    ["VIEW", "customer-7"],
    ["ADD_TO_CART", "customer-7"],
  ]);
  expect(await known(opened.page)).toEqual(["customer-7", "customer-7"]);
  await push(opened.page, "order", "1001");
  await until(() => claims(shop).length === 1, "the claim");
  expect(claims(shop)[0], "no event had another id").not.toHaveProperty("formerId");
  await opened.close();
});

test("a refusal in the queue has nothing stored, not for a moment", async () => {
  const shop = await openShop(app);
  const opened = await browser.open("about:blank");
  await opened.page.addInitScript(`const { setItem } = Storage.prototype; window.stored = [];
    Object.defineProperty(window, "localStorage", { value: new Proxy({}, { set: (_, key) => stored.push(key) > 0 }) })`);
  await opened.page.goto(`${shop.url}/?watch&${pushed(["consent", false])}`);
  await until(() => eventsOf(shop).length > 0, "a view");
  expect(await opened.page.evaluate("stored")).toEqual([]);
  await opened.close();
});

test("an id that identify replaces goes along with the next claim, also on another page, and only with that one", async () => {
  const shop = await openShop(app);
  const opened = await shop.open(browser);
  const { page } = opened;
  await until(() => eventsOf(shop).length === 1, "a view");
  const [anonymous] = await known(page);
  await push(page, "identify", "customer-7");
  expect(await known(page)).toEqual(["customer-7", "customer-7"]);
  await page.goto(`${shop.url}/?${pushed(["identify", "customer-7"], ["order", "1001"], ["order", "1002"])}`);
  await until(() => claims(shop).length === 2, "the claims");
  expect(claims(shop)).toMatchObject([{ viewerId: "customer-7", formerId: anonymous }, { viewerId: "customer-7" }]);
  expect(claims(shop)[1]).not.toHaveProperty("formerId");
  await page.goto(`${shop.url}/?watch`);
  await until(() => eventsOf(shop).at(-1)?.type === "VIEW", "a view of a page that does not say who it is");
  expect(eventsOf(shop).at(-1)?.viewerId).toBe("customer-7");
  await opened.close();
});

test("without consent, the id of a page's viewer goes along with a claim of the page, and the shows of a page have one viewer", async () => {
  const body = (place: Place) =>
    `<script>${player}${queue}</script><shop-player></shop-player>
     ${[0, 1].map((index) => tag(place, index, 'data-watch="shop-player" data-consent="required"')).join("")}`;
  const { store, ids, opened } = await openPage(body, 2);
  for (const id of ids) await seen(store, id);
  const events = () => app.db.showEvent.findMany({ where: { storeId: store.id }, select: { viewerId: true } });
  expect(new Set((await events()).map(({ viewerId }) => Buffer.from(viewerId).toString("hex"))).size).toBe(1);
  const anonymous = (await known(opened.page))[0];
  const sent: string[] = [];
  opened.page.on("request", (request) => sent.push(request.postData() ?? ""));
  await push(opened.page, "identify", "customer-7");
  await push(opened.page, "order", "1001");
  await until(() => sent.some((text) => text.includes("CLAIM")), "the claim");
  expect(
    sent.filter((text) => text.includes("CLAIM")),
    "one claim, whatever the scripts",
  ).toHaveLength(1);
  expect(sent.join(" ")).toContain(`"formerId":"${anonymous}"`);
  expect(await known(opened.page)).toEqual(["customer-7", null]);
  await expectCleanEnd(opened);
});

test("a second of a show counts once, however many scripts and players a page has for it", async () => {
  const body = (place: Place) =>
    `<script>${player}${queue} vitrine.push(["watch", "#two"])</script>
     <shop-player id="one"></shop-player><shop-player id="two"></shop-player>
     ${tag(place, 0, 'data-watch="#one"')}${tag(place)}${tag(place, 1, 'data-watch="#one"')}`.replaceAll(" async", "");
  const { store, ids, opened } = await openPage(body, 2);
  for (const id of ids) await seen(store, id);
  await opened.page.waitForTimeout(1_500);
  await opened.page.evaluate(`document.querySelector("#one").paused = true`);
  await opened.page.waitForTimeout(1_500);
  const passed = Number(
    await opened.page.evaluate(`for (const { dataset: { show } } of document.querySelectorAll("script[data-show]"));
      dispatchEvent(new Event("pagehide")); performance.now() / 1_000`),
  );
  await until(async () => (await secondsOf(store, ids[0])) > 0, "the seconds");
  expect(await secondsOf(store, ids[0])).toBeLessThan(passed + 0.1);
  expect(await secondsOf(store, ids[0]), "one player goes on").toBeGreaterThan(2.5);
  await expectCleanEnd(opened);
});
