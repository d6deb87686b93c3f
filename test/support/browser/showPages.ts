import { issueKey } from "../../../src/stores/publicKey.js";
import { createTestStore, type TestApp, type TestStore } from "../app.js";
import { expectClean, type TestBrowser, type TestPage } from "./browser.js";
import { until } from "../until.js";
import { person, serveUntilFinished } from "./shop.js";
import { readKpis, saved } from "../shows.js";

/** What a page needs to report shows. */
export interface Place {
  readonly key: string;
  /** The address of the script. */
  readonly src: string;
  readonly shows: readonly string[];
}

export const queue =
  "window.vitrine = window.vitrine && vitrine.push ? vitrine : { q: [], push(c) { this.q.push(c) } };";
/** A player of its own: what it has of a video is set from outside. */
export const player = `
  customElements.define("shop-player", class extends HTMLElement {
    paused = false; ended = false; seeking = false; readyState = 4;
  });`;

export const tag = ({ key, src, shows }: Place, index = 0, more = "") =>
  `<script async src="${src}" data-key="${key}" data-show="${shows[index]}" ${more}></script>`;

/** How tests look at pages of a shop whose body is made of its key, the script's address and the shows. */
export function showPages(app: TestApp, browser: TestBrowser) {
  const viewersOf = async (store: TestStore, id: string | undefined) => (await readKpis(store, id ?? "")).viewers;
  return {
    openPage: async (body: (place: Place) => string, shows = 1) => {
      const store = await createTestStore(app);
      const made = await Promise.all(
        Array.from({ length: shows }, () => saved(store, { status: "LIVE", durationSeconds: null })),
      );
      const ids = made.map(({ id }) => id);
      const shop = await serveUntilFinished((request, response) => {
        response.writeHead(200, { "content-type": "text/html" });
        const html = request.url === "/frame" ? `<script>${player}</script><shop-player></shop-player>` : body(place);
        response.end(`<!doctype html><html lang="en"><title>Shop</title><link rel="icon" href="data:,">${html}`);
      });
      const { key } = await issueKey(app.db, store.id, { origins: [shop] });
      const place: Place = { key, src: `${app.url}/tracker/v1.js`, shows: ids };
      const opened = await browser.open(shop, person);
      return { store, ids, opened };
    },
    viewersOf,
    /** All seconds that the service has of a live show. */
    secondsOf: async (store: TestStore, id: string | undefined) => {
      const { viewers, avgViewTime } = await readKpis(store, id ?? "");
      return viewers.live * avgViewTime.live;
    },
    seen: (store: TestStore, id: string | undefined) =>
      until(async () => (await viewersOf(store, id)).live === 1, "a viewer"),
    expectCleanEnd: async (opened: TestPage) => {
      expectClean(opened, [], [new URL(app.url).host]);
      await opened.close();
    },
    /** Has the page send the seconds after a while, and closes it: what a busy page does when it is closed, the browser may end. */
    leave: async ({ page }: TestPage) => {
      await page.waitForTimeout(600);
      await page.evaluate(`dispatchEvent(new Event("pagehide"))`);
      await page.close();
    },
  };
}
