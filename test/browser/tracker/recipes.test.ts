// @tier all
import { readFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { expect, test } from "vitest";
import { issueKey } from "../../../src/stores/publicKey.js";
import { createTestStore } from "../../support/app.js";
import { expectClean, openAppInBrowser, type TestPage } from "../../support/browser/browser.js";
import { configurationIn } from "../../support/docs.js";
import { readOrder, recordedOrders, sentOrder } from "../../support/figures/orders.js";
import { until } from "../../support/until.js";
import { person, serveUntilFinished } from "../../support/browser/shop.js";
import { readKpis, saved } from "../../support/shows.js";

// The recipes of docs/recipes.md, in pages that behave as the shops they are for.

const { app, browser } = await openAppInBrowser({ analyticsRateLimit: 0, collectRateLimit: 0 });
const recipes = await readFile("docs/recipes.md", "utf8");
const turbo = await readFile(new URL("turbo.es2017-umd.js", import.meta.resolve("@hotwired/turbo")));

/** A player of its own, since the tests have no film. */
const player = `<script>customElements.define("shop-player", class extends HTMLElement {
  paused = false; ended = false; seeking = false; readyState = 4;
});</script>`;

interface Shop {
  /** The recipe of that kind, with what the shop puts into it, for a show of the store. */
  readonly recipe: (kind: string, show?: number, values?: Readonly<Record<string, string>>) => string;
}

interface Pages {
  /** The pages by path. */
  readonly pages: (shop: Shop) => Readonly<Record<string, string>>;
  readonly shows?: number;
  readonly origins?: readonly string[];
}

/** Opens the first page of a shop, of a store with as many shows. */
async function openShop({ pages, shows = 1, origins = [] }: Pages) {
  const store = await createTestStore(app);
  const made = await Promise.all(
    Array.from({ length: shows }, () => saved(store, { status: "LIVE", durationSeconds: null })),
  );
  const ids = made.map(({ id }) => id);
  const asked: { path: string; body: string }[] = [];
  const shop = await serveUntilFinished((request, response) => {
    void answer(request, response);
  });
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const path = request.url ?? "/";
    const body = Buffer.concat(await request.toArray()).toString();
    if (request.method === "POST") asked.push({ path, body });
    const isScript = path === "/turbo.js";
    const html = `<!doctype html><html lang="en"><head><title>Shop</title><link rel="icon" href="data:,">${bodies[path] ?? ""}`;
    response.writeHead(200, { "content-type": isScript ? "text/javascript" : "text/html" });
    response.end(isScript ? turbo : html);
  };
  const { key } = await issueKey(app.db, store.id, { origins: [shop, ...origins] });
  const sandboxed = await issueKey(app.db, store.id, { origins: [shop], isSandboxed: true });
  const recipe: Shop["recipe"] = (kind, show = 0, values = {}) => {
    const filled = {
      "https://vitrine.example": app.url,
      "summer-sale": ids[show] ?? "",
      "{{ page.metafields.custom.show }}": ids[show] ?? "",
      ...values,
    };
    const withKey = configurationIn(recipes, kind).replaceAll("vp_…", kind === "js page" ? sandboxed.key : key);
    return Object.entries(filled).reduce((text, [place, value]) => text.replaceAll(place, value), withKey);
  };
  const bodies = pages({ recipe });
  const opened = await browser.open(shop, person);
  return { store, ids, opened, asked };
}

type Store = Awaited<ReturnType<typeof openShop>>["store"];
const isSeen = (store: Store, id: string | undefined) =>
  until(async () => (await readKpis(store, id ?? "")).viewers.live === 1, "a viewer");
const hasCart = (store: Store, id: string | undefined) =>
  until(async () => (await readKpis(store, id ?? "")).addToCart.live === 100, "a cart");
const expectCleanEnd = async (opened: TestPage) => {
  expectClean(opened, [], [new URL(app.url).host]);
  await opened.close();
};
/** The player in place of a video. */
const ofPlayer = { 'data-watch="video"': 'data-watch="shop-player"', '["watch", "video"]': '["watch", "shop-player"]' };

test("a page with a video", async () => {
  const { store, ids, opened } = await openShop({
    pages: ({ recipe }) => ({ "/": `${recipe("html page")}<body><video muted></video>` }),
  });
  await isSeen(store, ids[0]);
  await expectCleanEnd(opened);
});

test("a tag manager, which adds its tags to the page later and removes their data- attributes", async () => {
  const { store, ids, opened } = await openShop({
    pages: ({ recipe }) => ({
      "/": `${player}<body><shop-player></shop-player><script>
        function fire(html) {
          const tag = document.createRange().createContextualFragment(html);
          for (const { dataset } of tag.querySelectorAll("script")) for (const name in dataset) delete dataset[name];
          document.body.append(tag);
        }
        setTimeout(() => fire(${JSON.stringify(recipe("html tag-manager", 0, ofPlayer)).replaceAll("</", String.raw`<\/`)}), 200);
        window.buy = () => fire(${JSON.stringify(
          recipe("html tag-manager-cart", 0, { "{{Product ID}}": '"linen-shirt"' }),
        ).replaceAll("</", String.raw`<\/`)});
      </script>`,
    }),
  });
  await isSeen(store, ids[0]);
  await opened.page.evaluate("buy()");
  await hasCart(store, ids[0]);
  await expectCleanEnd(opened);
});

test("a theme of Shopify, which stops the form's event and sends it itself: one request has product and viewer", async () => {
  const variants = { "11": "shirt-m", "12": "shirt-l" };
  const loop = /\{% for variant in product\.variants %\}.*?\{% endfor %\}/su;
  const { store, ids, opened, asked } = await openShop({
    pages: ({ recipe }) => ({
      "/": `${player}${recipe("html shopify-theme", 0, ofPlayer).replace(loop, JSON.stringify(variants).slice(1, -1))}
        <body><shop-player></shop-player><form action="/search"><button id="search">Search</button></form>
        <form id="product" action="/en/cart/add" method="post"><input name="action" value="add">
          <select name="id"><option value="11">M</option><option value="12">L</option></select><button id="buy">Buy</button></form>
        <script>
          for (const form of document.forms) form.addEventListener("submit", (event) => {
            event.preventDefault();
            event.stopImmediatePropagation();
            if (form.id) fetch("/cart/add.js", { method: "POST", body: new URLSearchParams(new FormData(form)) });
          });
        </script>`,
    }),
  });
  await isSeen(store, ids[0]);
  await opened.page.click("#search");
  for (const variant of ["11", "12"]) {
    await opened.page.selectOption("select", variant);
    await opened.page.click("#buy");
  }
  await until(() => asked.length === 2, "the carts");
  const viewer = await opened.page.evaluate<string>(`localStorage.getItem("vitrine:viewer")`);
  expect(asked.map(({ path, body }) => [path, Object.fromEntries(new URLSearchParams(body))])).toEqual(
    ["11", "12"].map((id) => ["/cart/add.js", { action: "add", id, "attributes[vitrine_viewer]": viewer }]),
  );
  await hasCart(store, ids[0]);
  const carts = () =>
    app.db.showEvent.findMany({ where: { storeId: store.id, type: 2 }, orderBy: { occurredAt: "asc" } });
  await until(async () => (await carts()).length === 2, "both");
  expect((await carts()).map(({ productId }) => productId).toSorted()).toEqual(["shirt-l", "shirt-m"]);
  await expectCleanEnd(opened);
});

test("a custom pixel of Shopify claims an order for the viewer of the theme", async () => {
  const { store, ids, opened } = await openShop({
    pages: ({ recipe }) => {
      const pixel = `<script>
        const told = {};
        const analytics = { subscribe: (name, listener) => (told[name] = listener) };
        const browser = { localStorage: { getItem: async () => parent.name } };
        addEventListener("message", ({ data }) => {
          browser.localStorage.getItem = async () => data.viewer;
          told["checkout_completed"]({ id: data.id, data: { checkout: { order: { id: "gid://shopify/Order/1001" } } } });
        });
        ${recipe("js page")}
      </script>`;
      return {
        "/": `${recipe("html page", 0, ofPlayer)}${player}<body><shop-player></shop-player>
          <iframe sandbox="allow-scripts" title="Pixel" srcdoc="${pixel.replaceAll("&", "&amp;").replaceAll('"', "&quot;")}"></iframe>`,
      };
    },
  });
  await isSeen(store, ids[0]);
  const viewer = await opened.page.evaluate<string>(`localStorage.getItem("vitrine:viewer")`);
  await opened.page.evaluate(
    ({ viewer: id }) =>
      (globalThis as any).document.querySelector("iframe").contentWindow.postMessage({ viewer: id, id: "sh-1" }, "*"),
    { viewer },
  );
  await recordedOrders(store, [sentOrder("1001", 20)]);
  await until(async () => (await readOrder(store, "1001")).viewerId === viewer, "the claim");
  await expectCleanEnd(opened);
});

test("Turbo: the script of the next page switches to its show, and the viewer stays", async () => {
  const { store, ids, opened } = await openShop({
    shows: 2,
    pages: ({ recipe }) => {
      const page = (show: number) => `<script src="/turbo.js"></script>${player}</head><body>
        <a id="next" href="/next">Next</a><shop-player></shop-player>${recipe("html page", show, ofPlayer)}</body>`;
      return { "/": page(0), "/next": page(1) };
    },
  });
  await isSeen(store, ids[0]);
  await opened.page.evaluate("window.isSamePage = true");
  await opened.page.click("#next");
  await isSeen(store, ids[1]);
  expect(await opened.page.evaluate("window.isSamePage"), "Turbo has replaced the body").toBe(true);
  const events = await app.db.showEvent.findMany({ where: { storeId: store.id }, select: { viewerId: true } });
  expect(new Set(events.map(({ viewerId }) => Buffer.from(viewerId).toString("hex"))).size).toBe(1);
  await expectCleanEnd(opened);
});

test("a single-page shop", async () => {
  const { store, ids, opened } = await openShop({
    shows: 2,
    pages: ({ recipe }) => ({
      "/": `${recipe("html single-page", 0, ofPlayer)}${player}<body><shop-player></shop-player>`,
    }),
  });
  for (const id of ids) {
    await opened.page.evaluate(`onPage(${JSON.stringify(id)})`);
    await isSeen(store, id);
    await opened.page.evaluate("onPage()");
  }
  await expectCleanEnd(opened);
});
