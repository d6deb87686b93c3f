// @tier all
import { expect, test } from "vitest";
import { openAppInBrowser, type TestPage } from "../../support/browser/browser.js";
import { until } from "../../support/until.js";
import { type Place, player, queue, showPages, tag } from "../../support/browser/showPages.js";

const { app, browser } = await openAppInBrowser({ analyticsRateLimit: 0, collectRateLimit: 0 });
const { openPage, viewersOf, secondsOf, seen, expectCleanEnd } = showPages(app, browser);

/** Timers of the page fire when a test calls `tick` with their milliseconds, so that it sees what events alone do. */
const timers =
  "const timers = {}; window.setInterval = (work, ms) => { timers[ms] = work }; const tick = (ms) => timers[ms]();";
const page = (body: string) => (place: Place) =>
  `<body><script>${timers}${player}${queue}</script>${tag(place, 0, 'data-watch="shop-player"')}${body}`;
/** @returns seconds of the page's clock after the code has run */
const run = async ({ page: opened }: TestPage, code: string) =>
  Number(await opened.evaluate(`(() => { ${code}; return performance.now() / 1_000 })()`));
const passes = ({ page: opened }: TestPage, seconds: number) => opened.waitForTimeout(seconds * 1_000);
/** Sends the seconds. Closing the page would, too, but for one that is busy: the browser soon ends that. */
const leave = (opened: TestPage) => run(opened, `dispatchEvent(new Event("pagehide"))`);
/** Seconds are sent in tenths. */
const tenth = 0.1;
const shown = `document.querySelector("shop-player")`;

test("a player that comes later is counted from when it says that it plays", async () => {
  const { store, ids, opened } = await openPage(page(""));
  await opened.page.waitForFunction("vitrine.isLoaded");
  await run(
    opened,
    `document.body.append(document.createElement("shop-player")); ${shown}.dispatchEvent(new Event("playing"))`,
  );
  await seen(store, ids[0]);
  await expectCleanEnd(opened);
});

test("where the player leaves the page, which pauses it, the one that plays there is counted", async () => {
  const { store, ids, opened } = await openPage(page("<shop-player></shop-player>"));
  await seen(store, ids[0]);
  const from = await run(
    opened,
    `const old = ${shown}; document.body.append(document.createElement("shop-player")); old.remove();
     old.paused = true; old.dispatchEvent(new Event("pause"))`,
  );
  await passes(opened, 1);
  const played = (await run(opened, "")) - from;
  await leave(opened);
  await until(async () => (await secondsOf(store, ids[0])) >= played - tenth, "the seconds of the second");
  expect(await viewersOf(store, ids[0])).toMatchObject({ live: 1 });
  await opened.close();
});

test.each([
  ["is paused and has no events", `${shown}.paused = true; tick(1_000)`],
  ["has no events, and leaves the page", `${shown}.remove(); tick(1_000)`],
  ["waits with a rate of 0", `${shown}.playbackRate = 0; ${shown}.dispatchEvent(new Event("ratechange"))`],
])("a player that %s is not counted", async (_, code) => {
  const { store, ids, opened } = await openPage(page("<shop-player></shop-player>"));
  await seen(store, ids[0]);
  await passes(opened, 0.5);
  const stopped = await run(opened, code);
  await passes(opened, 2);
  await leave(opened);
  await until(async () => (await secondsOf(store, ids[0])) > 0, "the seconds");
  expect(await secondsOf(store, ids[0])).toBeLessThan(stopped + tenth);
  await opened.close();
});

test("a page that the browser keeps for going back counts nothing meanwhile, and goes on afterwards", async () => {
  const { store, ids, opened } = await openPage(page("<shop-player></shop-player>"));
  await seen(store, ids[0]);
  const hidden = await leave(opened);
  await passes(opened, 2);
  const back = await run(opened, `dispatchEvent(new Event("pageshow"))`);
  await passes(opened, 1);
  const end = await run(opened, `${shown}.paused = true; tick(1_000)`);
  await leave(opened);
  await until(async () => (await secondsOf(store, ids[0])) >= end - back - tenth, "the seconds afterwards");
  expect(await secondsOf(store, ids[0])).toBeLessThan(end - (back - hidden) + tenth);
  await opened.close();
});

test("a player that is missing is looked for each second, and in shadow roots every ten seconds, while the browser is idle", async () => {
  const watching = `<script>
    const idle = []; window.requestIdleCallback = (work) => { idle.push(work) };
    let [looks, laterMs] = [0, 0];
    const { querySelectorAll } = Document.prototype;
    Document.prototype.querySelectorAll = function (selector) { looks++; return querySelectorAll.call(this, selector) };
    const now = performance.now.bind(performance); performance.now = () => now() + laterMs;
  </script>`;
  const { store, ids, opened } = await openPage((place) => `${watching}${page("")(place)}`);
  await opened.page.waitForFunction("vitrine.isLoaded");
  const counts = (code: string) => opened.page.evaluate(`(() => { ${code}; return [idle.length, looks] })()`);
  const host = `document.body.append(document.createElement("div"));
    document.body.lastChild.attachShadow({ mode: "open" }).append(document.createElement("shop-player"))`;
  expect(await counts("for (let n = 0; n < 5; n++) tick(1_000)")).toEqual([1, 0]);
  expect(await counts("idle.shift()()")).toEqual([0, 1]);
  expect(await counts(`${host}; for (let n = 0; n < 5; n++) tick(1_000)`)).toEqual([0, 1]);
  expect(await counts("laterMs = 10_000; for (let n = 0; n < 5; n++) tick(1_000)")).toEqual([1, 1]);
  expect(await viewersOf(store, ids[0])).toMatchObject({ live: 0 });
  await counts("idle.shift()()");
  await seen(store, ids[0]);
  expect(await counts(`laterMs = 30_000; tick(1_000)`), "it is there").toEqual([0, 2]);
  await opened.close();
});
