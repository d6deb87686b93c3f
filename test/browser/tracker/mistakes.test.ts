// @tier all
import { expect, test } from "vitest";
import { issueKey } from "../../../src/stores/publicKey.js";
import { createTestStore } from "../../support/app.js";
import { openAppInBrowser, type TestPage } from "../../support/browser/browser.js";
import { person, serveUntilFinished } from "../../support/browser/shop.js";
import { type Place, player, queue, showPages, tag } from "../../support/browser/showPages.js";
import { fromNow } from "../../support/clock.js";
import { storedEvents } from "../../support/events.js";
import { readKpis, saved } from "../../support/shows.js";
import { until } from "../../support/until.js";

const { app, browser } = await openAppInBrowser({ analyticsRateLimit: 0, collectRateLimit: 0 });
const { openPage, viewersOf, seen, expectCleanEnd } = showPages(app, browser);

/** Loads the page again. @returns its warnings */
async function warningsOf({ page }: TestPage): Promise<string[]> {
  const url = page.url();
  await page.goto("about:blank");
  const said: string[] = [];
  page.on("console", (message) => void (message.type() === "warning" && said.push(message.text())));
  await page.goto(url);
  await page.waitForFunction("vitrine.isLoaded");
  return said;
}

test("a mistake costs what it concerns, and is said once, with the value", async () => {
  const calls = [
    ["watch", "video["],
    ["watch", null],
    ["identify", "undefined"],
    ["consent", "denied"],
    ["order", "null"],
    ["show", "x".repeat(256)],
    ["nothing", 7],
    ["view"],
    ["addToCart", "$"],
    ["addToCart", ""],
  ];
  const attributes = 'data-watch="<" data-channel="LVE" data-consent="maybe"';
  const body = (place: Place) => `<script>${queue} for (const call of ${JSON.stringify(calls)}) vitrine.push(call);
    vitrine.push(null); vitrine.push("text"); vitrine.push([Symbol("sign")])</script>
    ${tag(place, 0, attributes)}${tag(place, 1, "data-consent=required")}`;
  const { store, ids, opened } = await openPage(body, 2);
  const said = await warningsOf(opened);
  await until(async () => (await readKpis(store, ids[0] ?? "")).addToCart.live > 0, "a cart");
  await until(async () => (await viewersOf(store, ids[1])).live > 0, "a view of the other show");
  const expected = [
    "consent maybe",
    "channel LVE",
    "watch <",
    "watch video[",
    "watch null",
    "identify undefined",
    "consent denied",
    "order null",
    `show ${"x".repeat(256)}`,
    "nothing 7",
    "product ",
    "null",
    "text",
    "Symbol(sign)",
  ].map((about) => `vitrine: ignored ${about}`);
  expect(said.toSorted()).toEqual(expected.toSorted());
  expect(await opened.page.evaluate("Object.keys(localStorage)"), "no consent").toEqual([]);
  await expectCleanEnd(opened);
});

test.each(["#1video", "1video"])("%s, which is no selector, is tried as an id", async (id) => {
  const body = (place: Place) =>
    `<script>${player}</script>${tag(place, 0, `data-watch="${id}"`)}<shop-player id="1video"></shop-player>`;
  const { store, ids, opened } = await openPage(body);
  await seen(store, ids[0]);
  expect(await warningsOf(opened)).toEqual([]);
  await expectCleanEnd(opened);
});

test("a script that an optimizer has copied counts with data-endpoint, and says where it sends without", async () => {
  const script = await (await fetch(`${app.url}/tracker/v1.js`)).text();
  for (const isNamed of [true, false]) {
    const store = await createTestStore(app);
    const { id } = await saved(store, { status: "LIVE", durationSeconds: null });
    const shop = await serveUntilFinished((request, response) => {
      const isScript = request.url === "/cache/min.js";
      response.writeHead(200, { "content-type": isScript ? "text/javascript" : "text/html" });
      response.end(
        isScript ? script : `<!doctype html><link rel="icon" href="data:,"><script>${queue}</script>${html}`,
      );
    });
    const { key } = await issueKey(app.db, store.id, { origins: [shop] });
    const endpoint = isNamed ? `data-endpoint="${app.url}/collect/v1"` : "";
    const html = `<script src="/cache/min.js" data-key="${key}" data-show="${id}" ${endpoint}></script>
      <script>vitrine.push(["view"])</script>`;
    const opened = await browser.open(shop, person);
    const said = await warningsOf(opened);
    if (isNamed) await seen(store, id);
    else {
      await until(() => said.length > 0, "the warning");
      await opened.page.evaluate(`vitrine.push(["addToCart", "shirt"])`);
      await opened.page.waitForTimeout(1_500); // until it tries again
    }
    expect(said).toEqual(isNamed ? [] : [`vitrine: ignored by data-endpoint ${shop}/cache/v1 200`]);
    await opened.close();
  }
});

test("the console says once what the service refuses", async () => {
  const { opened } = await openPage(
    ({ src, shows }) => `<script>${queue} vitrine.push(["view"])</script>
    <script src="${src}" data-key="vp_wrong" data-show="${shows[0]}"></script>`,
  );
  const said = await warningsOf(opened);
  await until(() => said.length > 0, "the warning");
  expect(said).toEqual([
    `vitrine: ignored by data-endpoint ${app.url}/collect/v1 401 urn:vitrine:problem:unauthenticated`,
  ]);
  await opened.close();
});

test("a library that gives toJSON to prototypes changes nothing that is sent or kept", async () => {
  const library = `for (const { prototype } of [Array, Object, Date, String]) {
    Object.defineProperty(prototype, "toJSON", { value() { return "spoilt" }, configurable: true });
  }`;
  const body = (place: Place) => `<script>${library}${queue} vitrine.push(["view"])</script>${tag(place)}`;
  const { store, ids, opened } = await openPage(body);
  await seen(store, ids[0]);
  const { page } = opened;
  await until(async () => (await page.evaluate("Object.keys(localStorage).length")) === 1, "nothing to be kept");
  await page.context().setOffline(true);
  await page.evaluate(`vitrine.push(["addToCart", "shirt"])`);
  const kept = `Object.entries(localStorage).filter(([name]) => name !== "vitrine:viewer").map(([, text]) => text)`;
  expect(await page.evaluate(kept)).toEqual([expect.stringContaining('"productId":"shirt"')]);
  await page.evaluate(`const [name] = Object.keys(localStorage).filter((key) => key !== "vitrine:viewer");
    localStorage[name] = localStorage[name].replace(/"at":(\\d+)/, (_, at) => '"at":' + (at - 60_000))`);
  await page.context().setOffline(false);
  await page.reload();
  await until(async () => (await readKpis(store, ids[0] ?? "")).addToCart.live === 100, "the cart");
  const { occurredAt, acceptedAt } = await app.db.showEvent.findFirstOrThrow({
    where: { storeId: store.id, type: 2 },
  });
  expect(acceptedAt.getTime() - occurredAt.getTime(), "its time was sent").toBeGreaterThanOrEqual(0);
  expect(await storedEvents(app, store)).toBeGreaterThan(2);
  await opened.close();
});

test("after a 425 of one show, the tracker goes on with the page's others", async () => {
  const { store, ids, opened } = await openPage(
    (place) => `<script>${queue} vitrine.push(["view"])</script>${tag(place)}`,
  );
  const startedAt = fromNow(3_600_000).toISOString();
  await saved(store, { id: "later", status: "SCHEDULED", startedAt, durationSeconds: null });
  await seen(store, ids[0]);
  const answered = opened.page.waitForResponse((response) => response.status() === 425);
  await opened.page.evaluate(`vitrine.push(["show", "later"]); vitrine.push(["view"])`);
  await answered;
  await opened.page.evaluate(`vitrine.push(["show", ${JSON.stringify(ids[0])}]); vitrine.push(["addToCart", "shirt"])`);
  await until(async () => (await readKpis(store, ids[0] ?? "")).addToCart.live === 100, "the cart");
  expect(await viewersOf(store, "later")).toMatchObject({ live: 0 });
  await opened.close();
});
