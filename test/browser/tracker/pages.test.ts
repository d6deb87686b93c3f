// @tier all
import { expect, test } from "vitest";
import { openAppInBrowser } from "../../support/browser/browser.js";
import { storedEvents } from "../../support/events.js";
import { until } from "../../support/until.js";
import { type Place, player, queue, showPages, tag } from "../../support/browser/showPages.js";
import { readKpis } from "../../support/shows.js";

const { app, browser } = await openAppInBrowser({ analyticsRateLimit: 0, collectRateLimit: 0 });
const { openPage, viewersOf, secondsOf, seen, expectCleanEnd, leave } = showPages(app, browser);

const plays = `Object.assign(document.createElement("shop-player"), { className: "player" })`;

test.each([
  ["a custom element", "document.body.append(PLAYER)", ".player"],
  [
    "a container",
    `document.body.append(Object.assign(document.createElement("div"), { id: "box", innerHTML: "<video></video>" }));
    box.firstChild.replaceWith(Object.assign(document.createElement("div"))); box.append(PLAYER)`,
    "shop-player",
  ],
  [
    "an open shadow root",
    `const host = document.body.appendChild(document.createElement("div"));
    host.attachShadow({ mode: "open" }).append(PLAYER)`,
    ".player",
  ],
  [
    "a frame of the same origin",
    `document.body.append(Object.assign(document.createElement("iframe"), { src: "/frame" }))`,
    "shop-player",
  ],
])("in %s that comes after the call, what plays is counted", async (_, code, selector) => {
  const body = (place: Place) => `<body><script>${player}${queue}
    vitrine.push(["watch", ${JSON.stringify(selector)}]);
    setTimeout(() => { ${code.replace("PLAYER", plays)} }, 300);</script>${tag(place)}`;
  const { store, ids, opened } = await openPage(body);
  await seen(store, ids[0]);
  await leave(opened);
  await until(async () => (await secondsOf(store, ids[0])) >= 0.5, "the seconds");
  await expectCleanEnd(opened);
});

test("a player that is replaced is followed, and stop() ends it", async () => {
  const body = (place: Place) =>
    `<body><script>${player}${queue} document.body.append(${plays}); vitrine.push(["watch", "shop-player"]);</script>${tag(place)}`;
  const { store, ids, opened } = await openPage(body);
  await seen(store, ids[0]);
  const { page } = opened;
  await page.evaluate(`document.querySelector("shop-player").paused = true`);
  await page.evaluate(`document.querySelector("shop-player").replaceWith(Object.assign(${plays}, { id: "next" }))`);
  await page.waitForTimeout(1_700);
  const stopped = Number(await page.evaluate(`vitrine.push(["stop"]); performance.now() / 1_000`));
  await page.waitForTimeout(2_000);
  await leave(opened);
  await until(async () => (await secondsOf(store, ids[0])) > 0, "the seconds");
  expect(await secondsOf(store, ids[0])).toBeLessThan(stopped + 0.1);
  expect(await viewersOf(store, ids[0]), "one viewer").toMatchObject({ live: 1 });
  await expectCleanEnd(opened);
});

test("key and show come from the script's address, or from init, where a tag manager removes attributes", async () => {
  const ofAddress = ({ key, src, shows }: Place) =>
    `<script>${queue} vitrine.push(["view"])</script><script src="${src}?key=${key}&show=${shows[0]}&channel=replay"></script>`;
  const first = await openPage(ofAddress);
  await until(async () => (await viewersOf(first.store, first.ids[0])).replay === 1, "a viewer of the replay");
  await expectCleanEnd(first.opened);
  const ofInit = ({ key, src, shows }: Place) =>
    `<script>${queue} vitrine.push(["view"]);
      vitrine.push(["init", ${JSON.stringify({ key, show: shows[0], channel: "live" })}])</script><script src="${src}"></script>`;
  const second = await openPage(ofInit);
  await seen(second.store, second.ids[0]);
  await expectCleanEnd(second.opened);
});

test("an element with the id vitrine breaks neither the snippet nor the script", async () => {
  const body = (place: Place) =>
    `<div id="vitrine"></div><script>${queue} vitrine.push(["view"]); vitrine.push(["addToCart", "a"])</script>${tag(place)}`;
  const { store, ids, opened } = await openPage(body);
  await until(async () => (await readKpis(store, ids[0] ?? "")).addToCart.live === 100, "the cart");
  await expectCleanEnd(opened);
  const without = await openPage(
    (place) => `<div id="vitrine"></div>${tag(place, 0, 'data-watch="video"')}<video></video>`,
  );
  await seen(without.store, without.ids[0]);
  await expectCleanEnd(without.opened);
});

test("two scripts of two shows each count their own; carts are of the first", async () => {
  const body = (place: Place) =>
    `<script>${player}${queue} vitrine.push(["addToCart", "shirt"])</script>
    <shop-player id="one"></shop-player><shop-player id="two"></shop-player>
    ${tag(place, 0, 'data-watch="#one"')}${tag(place, 1, 'data-watch="#two"')}`.replaceAll(" async", "");
  const { store, ids, opened } = await openPage(body, 2);
  for (const id of ids) await seen(store, id);
  await until(async () => (await readKpis(store, ids[0] ?? "")).addToCart.live === 100, "the cart");
  expect((await readKpis(store, ids[1] ?? "")).addToCart.live).toBe(0);
  await leave(opened);
  for (const id of ids) await until(async () => (await secondsOf(store, id)) >= 0.5, "the seconds of each");
  await expectCleanEnd(opened);
});

test.each([
  ["replaces the body", "document.body.replaceChildren()"],
  ["keeps the head", "history.pushState({}, '', '/next')"],
])("where navigation %s, a second script of the key acts as show()", async (_, navigate) => {
  const body = (place: Place) =>
    `<body><script>${player}${queue} vitrine.push(["watch", "shop-player"])</script><shop-player></shop-player>${tag(place)}
     <script>window.next = () => { ${navigate};
       document.body.append(document.createElement("shop-player"), Object.assign(document.createElement("script"),
         { src: "${place.src}" }));
       Object.assign(document.body.lastChild.dataset, { key: "${place.key}", show: "${place.shows[1]}" }); }</script>`;
  const { store, ids, opened } = await openPage(body, 2);
  await seen(store, ids[0]);
  await opened.page.evaluate("next()");
  await seen(store, ids[1]);
  const before = await storedEvents(app, store);
  await opened.page.evaluate(`vitrine.push(["addToCart", "shirt"])`);
  await until(async () => (await readKpis(store, ids[1] ?? "")).addToCart.live === 100, "the cart of the new show");
  expect((await readKpis(store, ids[0] ?? "")).addToCart.live).toBe(0);
  expect(before).toBeGreaterThan(1);
  await expectCleanEnd(opened);
});

test("the time of a page ends with show() and with stop(), and wrong values are ignored", async () => {
  const { store, ids, opened } = await openPage(
    (place) => `<script>${queue} vitrine.push(["view"])</script>${tag(place)}`,
    2,
  );
  await seen(store, ids[0]);
  const { page } = opened;
  const wrong = [
    ["show", undefined],
    ["show", null],
    ["show", {}],
    ["identify", "undefined"],
    ["identify", 0],
    ["watch", 1],
    ["watch", "<"],
  ];
  for (const [name, value] of wrong)
    await page.evaluate(([call, given]) => (globalThis as any).vitrine.push([call, given]), [name, value]);
  await page.evaluate(`vitrine.push(["view"])`);
  await page.evaluate(`vitrine.push(["addToCart", "a"])`);
  await until(
    async () => (await readKpis(store, ids[0] ?? "")).addToCart.live === 100,
    "the cart of the first show, by the same viewer",
  );
  expect(await viewersOf(store, ids[0])).toMatchObject({ live: 1 });
  await page.evaluate(`vitrine.push(["show", ${JSON.stringify(ids[1])}])`);
  await leave(opened);
  await until(async () => (await secondsOf(store, ids[0])) > 0, "the seconds of the first");
  expect(await viewersOf(store, ids[1]), "no view of the second was asked for").toMatchObject({ live: 0 });
  await expectCleanEnd(opened);
});

test("with data-debug the console says what is counted, sent and ignored", async () => {
  const body = (place: Place) =>
    `<script>${queue} vitrine.push(["view"]); vitrine.push(["show"])</script>${tag(place, 0, "data-debug")}`;
  const { store, ids, opened } = await openPage(body);
  const said: string[] = [];
  opened.page.on("console", (message) => said.push(message.text()));
  await opened.page.reload();
  await seen(store, ids[0]);
  await until(() => said.some((line) => line.startsWith("vitrine: 202 ")), "what was sent");
  expect(said.filter((line) => line.startsWith("vitrine: counted"))).not.toEqual([]);
  expect(said.filter((line) => line.startsWith("vitrine: ignored"))).not.toEqual([]);
  await opened.close();
});
