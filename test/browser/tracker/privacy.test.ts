// @tier all
import { expect, test } from "vitest";
import { expectClean, openAppInBrowser, type TestPage } from "../../support/browser/browser.js";
import { until } from "../../support/until.js";
import { openShop, person, type Shop } from "../../support/browser/shop.js";

const { app, browser } = await openAppInBrowser({ analyticsRateLimit: 0, collectRateLimit: 0 });

const push = (page: TestPage["page"], ...command: readonly unknown[]) =>
  page.evaluate(`vitrine.push(${JSON.stringify(command)})`);
const keys = (page: TestPage["page"]) => page.evaluate("Object.keys(localStorage)") as Promise<string[]>;
const viewers = async (shop: Shop) => (await shop.kpis()).viewers.live as number;
const reached = (shop: Shop, count: number) => until(async () => (await viewers(shop)) === count, `${count} viewers`);
const consentRequired = `watch&attributes=${encodeURIComponent('data-consent="required"')}`;

test("until consent is given nothing is stored, not even unsent events, and a viewer's id lasts as long as the page", async () => {
  const shop = await openShop(app);
  const opened = await shop.open(browser, consentRequired);
  await reached(shop, 1);
  shop.set("drop");
  await push(opened.page, "addToCart", "a");
  await until(() => shop.sent.length > 1, "the try");
  expect(await keys(opened.page)).toEqual([]);
  shop.set("forward");
  await until(async () => (await shop.storedEvents()) === 2, "the cart");
  await opened.page.reload();
  await reached(shop, 2);
  expect(await keys(opened.page)).toEqual([]);

  await push(opened.page, "consent", true);
  expect(await keys(opened.page)).toEqual(["vitrine:viewer"]);
  await opened.page.goto(`${opened.page.url()}&push=${JSON.stringify([["consent", true]])}`);
  await until(async () => (await shop.storedEvents()) === 4, "the view");
  expect(await viewers(shop), "the viewer is known").toBe(2);

  shop.set("drop");
  await push(opened.page, "addToCart", "b");
  await until(async () => (await keys(opened.page)).length === 2, "the cart to be kept");
  await push(opened.page, "consent", false);
  expect(await keys(opened.page)).toEqual([]);
  shop.set("forward");
  await until(async () => (await shop.storedEvents()) === 5, "the cart");
  await opened.close();
});

test("with Global Privacy Control nothing is stored, whatever the page says, and stored data is removed", async () => {
  const shop = await openShop(app);
  const opened = await browser.open("about:blank", person);
  await opened.page.addInitScript(`
    Object.defineProperty(Navigator.prototype, "globalPrivacyControl", { value: true });
    try { localStorage.getItem("vitrine:viewer") ?? (sessionStorage.length || localStorage.setItem("vitrine:viewer", "before")); sessionStorage.setItem("seen", "yes") } catch {}
  `);
  await opened.page.goto(`${shop.url}/?watch&push=${JSON.stringify([["consent", true]])}`);
  await reached(shop, 1);
  expect(await keys(opened.page)).toEqual([]);
  await opened.page.reload();
  await reached(shop, 2);
  expect(await keys(opened.page)).toEqual([]);
  await opened.close();
});

test.each([
  [
    "throws",
    `Object.defineProperty(window, "localStorage", { get() { throw new DOMException("denied", "SecurityError") } })`,
  ],
  ["is full", `Storage.prototype.setItem = () => { throw new DOMException("full", "QuotaExceededError") }`],
])("events arrive even if the browser's storage %s", async (_, breaking) => {
  const shop = await openShop(app);
  const opened = await browser.open("about:blank", person);
  await opened.page.addInitScript(breaking);
  await opened.page.goto(`${shop.url}/?watch`);
  await reached(shop, 1);
  await push(opened.page, "addToCart", "a");
  await until(async () => (await shop.storedEvents()) === 2, "the cart");
  expect(shop.sent).toHaveLength(2);
  const gate = await opened.page.locator("script[data-key]").evaluate((script: any) => new URL(script.src).host);
  expectClean(opened, [], [gate]);
  await opened.close();
});
