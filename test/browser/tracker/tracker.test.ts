// @tier all
import { expect, test } from "vitest";
import { fromNow } from "../../support/clock.js";
import { expectClean, openAppInBrowser, type TestPage } from "../../support/browser/browser.js";
import { until } from "../../support/until.js";
import { openShop, type Shop } from "../../support/browser/shop.js";
import { saved } from "../../support/shows.js";

const { app, browser } = await openAppInBrowser({ analyticsRateLimit: 0, collectRateLimit: 0 });

const push = (page: TestPage["page"], ...command: readonly unknown[]) =>
  page.evaluate(`vitrine.push(${JSON.stringify(command)})`);
const keys = (page: TestPage["page"]) => page.evaluate("Object.keys(localStorage)") as Promise<string[]>;
const viewers = async (shop: Shop) => (await shop.kpis()).viewers.live as number;
const viewed = (shop: Shop) => until(async () => (await viewers(shop)) === 1, "the viewer");
/** All seconds of viewing that the service has. */
const seconds = async (shop: Shop) => {
  const { viewers: all, avgViewTime } = await shop.kpis();
  return all.live * avgViewTime.live;
};
/** Waits until so many seconds have passed by the page's clock. */
const passes = async (page: TestPage["page"], passed: number) => {
  const now = async () => Number(await page.evaluate("performance.now()")) / 1_000;
  const from = await now();
  await until(async () => (await now()) - from >= passed, `${passed} seconds`);
};
const uuidV7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/u;
const timeOf = (id: string) => Number.parseInt(id.replace("-", "").slice(0, 12), 16);
const gateOf = async ({ page }: TestPage) =>
  new URL(await page.locator("script[data-key]").evaluate((script: any) => script.src)).host;

test("a page of another origin, under a strict Content-Security-Policy, reports a view and a cart", async () => {
  const shop = await openShop(app);
  const opened = await shop.open(browser);
  await viewed(shop);
  await push(opened.page, "addToCart", "linen-shirt");
  await until(async () => (await shop.kpis()).addToCart.live === 100, "the cart");
  expect(await shop.kpis()).toMatchObject({ devices: [{ device: "desktop", value: 100 }] });
  expect(await shop.storedEvents()).toBe(2);
  const viewer = String(await opened.page.evaluate('localStorage.getItem("vitrine:viewer")'));
  const ids = [viewer, ...shop.sent.flatMap(({ events }) => events.map(({ id }) => id))];
  expect(ids.filter((id) => !uuidV7.test(id) || Math.abs(timeOf(id) - fromNow(0).getTime()) > 600_000)).toEqual([]);
  await until(async () => (await keys(opened.page)).length === 1, "nothing but the viewer to be kept");
  expect(await opened.page.context().cookies()).toEqual([]);
  expectClean(opened, [], [await gateOf(opened)]);
  await opened.close();
});

test("seconds count while the video plays, and not while it is paused; a closed tab loses none", async () => {
  const shop = await openShop(app);
  const opened = await shop.open(browser);
  const { page } = opened;
  /** Plays until the video has advanced by so many seconds. */
  const play = (advance: number) =>
    page.evaluate(`(async () => {
      const video = document.querySelector("video");
      const from = video.currentTime;
      await video.play();
      while (video.currentTime < from + ${advance}) await new Promise((done) => video.addEventListener("timeupdate", done, { once: true }));
      const paused = new Promise((done) => video.addEventListener("pause", done, { once: true }));
      video.pause();
      await paused;
    })()`);
  await play(2);
  await passes(page, 3);
  await play(1);
  const played = Number(await page.evaluate("playedSeconds()"));
  await page.close();
  await until(async () => (await seconds(shop)) > 0, "the seconds");
  expect(Math.abs((await seconds(shop)) - played), `of ${played} seconds`).toBeLessThan(1);
  expect(await viewers(shop)).toBe(1);
  await opened.close();
});

test("watch time is sent during playback, one event for every ten seconds", async () => {
  const shop = await openShop(app);
  const opened = await shop.open(browser);
  await opened.page.evaluate(`document.querySelector("video").play()`);
  await until(async () => (await seconds(shop)) > 0, "the first seconds");
  expect(await seconds(shop)).toBeGreaterThan(5);
  await opened.close();
});

test("a returning viewer counts once, also in several tabs; another show counts separately", async () => {
  const shop = await openShop(app);
  const { id: replay } = await saved(shop.store, { status: "ENDED" });
  const opened = await shop.open(browser);
  const tabs = await Promise.all([1, 2, 3].map(() => opened.page.context().newPage()));
  await Promise.all(tabs.map((tab) => tab.goto(opened.page.url())));
  await Promise.all(tabs.map((tab, index) => push(tab, "addToCart", `product-${index}`)));
  await until(async () => (await shop.storedEvents()) === 7, "4 views and 3 carts");
  expect(await shop.kpis()).toMatchObject({ viewers: { live: 1 }, addToCart: { live: 100 } });
  await push(opened.page, "show", replay, "REPLAY");
  await push(opened.page, "addToCart", "linen-shirt");
  await until(async () => (await shop.kpis(replay)).addToCart.replay === 100, "the cart of the replay");
  await push(opened.page, "identify", "customer-7");
  await push(opened.page, "addToCart", "wool-scarf");
  await until(async () => (await shop.kpis(replay)).viewers.replay === 2, "the customer");
  expect(shop.sent.at(-1)?.events.at(-1)).toMatchObject({ viewerId: "customer-7", channel: "REPLAY" });
  await opened.close();
});

test("a page without a video counts the time that it is visible", async () => {
  const shop = await openShop(app);
  const opened = await shop.open(browser, `push=${JSON.stringify([["view"]])}`);
  await viewed(shop);
  await passes(opened.page, 1.5);
  await opened.page.close();
  await until(async () => (await seconds(shop)) >= 1, "the seconds");
  expect(await shop.storedEvents()).toBeGreaterThan(1); // Firefox may send the last tenth of a second by itself
  await opened.close();
});

test("a viewer's source is what the address says, or else the host of the page before, and lasts for the visit", async () => {
  const shop = await openShop(app);
  const opened = await shop.open(browser);
  await viewed(shop);
  const { page } = opened;
  const visit = async (query: string, referer?: string) => {
    await until(async () => (await keys(page)).length === 1, "nothing that the next page would send");
    const before = shop.sent.length;
    await page.goto(`${page.url().split("?")[0]}${query}`, referer === undefined ? {} : { referer });
    await until(
      async () => shop.sent.length > before && (await page.evaluate("document.readyState")) === "complete",
      "a view",
    );
    return shop.sent.at(-1)?.events.at(-1)?.source;
  };
  expect(shop.sent[0]?.events[0]).not.toHaveProperty("source");
  expect(await visit("?watch", "https://www.instagram.com/stories")).toBe("www.instagram.com");
  expect(await visit("?watch&utm_source=Newsletter%20May", "https://mail.example/")).toBe("Newsletter May");
  expect(await visit("?watch", `${shop.url}/other`), "another page of the visit").toBe("Newsletter May");
  expect(await visit("?watch", "https://pay.example/done"), "back from paying").toBe("Newsletter May");
  await push(page, "consent", false);
  expect(await page.evaluate("[...Object.keys(localStorage), ...Object.keys(sessionStorage)]")).toEqual([]);
  await page.evaluate("vitrine.push(['consent', true])");
  await until(async () => (await shop.kpis()).viewers.live === 1, "one viewer still");
  await opened.close();
});

test("nothing that a page pushes throws an error in it, and invalid values are not counted", async () => {
  const shop = await openShop(app);
  const wrong = [
    ["watch", 7],
    ["watch", "<"],
    ["nothing"],
    [],
    null,
    "text",
    ["show"],
    ["addToCart", {}],
    ["identify", " "],
  ];
  const opened = await shop.open(browser, `push=${encodeURIComponent(JSON.stringify(wrong))}`);
  await opened.page.waitForFunction("vitrine.push.name !== 'push' && vitrine.isLoaded");
  for (const command of wrong) await opened.page.evaluate(`vitrine.push(${JSON.stringify(command)})`);
  await push(opened.page, "show", shop.lsId);
  await push(opened.page, "watch", {});
  await push(opened.page, "addToCart", "x".repeat(300));
  await until(async () => (await shop.kpis()).addToCart.live === 100, "a cart of an unknown product");
  expect(await shop.storedEvents(), "two views of the shop's own video, and the cart").toBe(3);
  expectClean(opened, [], [await gateOf(opened)]);
  await opened.close();
});
