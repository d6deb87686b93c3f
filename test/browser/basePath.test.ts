// @tier all
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { issueKey } from "../../src/stores/publicKey.js";
import { needed } from "../support/run/programs.js";
import { createTestStore, startApp, storeAt, type TestApp, type TestStore } from "../support/app.js";
import { expectClean, openBrowser, type TestBrowser } from "../support/browser/browser.js";
import { openNewestShow } from "../support/browser/dashboard.js";
import { openLiveFigures, run, useToken, viewersShown } from "../support/browser/graphiql.js";
import { until } from "../support/until.js";
import { paths, product } from "../support/products.js";
import { startHaproxy, startNginx } from "../support/process/proxies.js";
import { person } from "../support/browser/shop.js";
import { readKpis, recorded, saved } from "../support/shows.js";
import { authorize, retrieve } from "../support/browser/swagger.js";
import { ofDay } from "../support/run/tier.js";

const nginx = needed("TEST_NGINX");
const haproxy = needed("TEST_HAPROXY");
const prefix = "/shop-api";

let apps: Record<"plain" | "prefixed", TestApp>;
let store: TestStore;
let browser: TestBrowser;
beforeAll(async () => {
  const [plain, prefixed] = await Promise.all([startApp(), startApp({ basePath: prefix })]);
  apps = { plain, prefixed };
  browser = await openBrowser();
  store = await createTestStore(plain);
});
afterAll(async () => {
  await Promise.all(Object.values(apps).map((app) => app.close()));
});

const portOf = ({ url }: TestApp) => new URL(url).port;

const ways = [
  [
    "nginx, which removes it",
    () => startNginx(nginx, `proxy_pass http://127.0.0.1:${portOf(apps.plain)}/;`, false, `${prefix}/`),
  ],
  ["HAProxy, which keeps it", () => startHaproxy(haproxy, portOf(apps.prefixed))],
] as const;

describe.each(ofDay(ways, 2))("below a path prefix behind %s", (_, start) => {
  test("the pages work, each reached from the first one", async () => {
    const proxy = await start();
    onTestFinished(() => proxy.close());
    const base = `http://127.0.0.1:${proxy.port}${prefix}`;
    const caller = storeAt(base, store);
    const { id } = await saved(store, { name: "Autumn looks", status: "LIVE", durationSeconds: null });
    await caller.post(paths.one, { product: product("mug") });

    const opened = await browser.open(`${base}/`);
    const { page } = opened;
    await page.getByRole("link", { name: /GraphiQL/u }).click();
    await openLiveFigures(page, id);
    await useToken(page, store.token);
    await run(page);
    await until(async () => (await viewersShown(page)) !== undefined, "the first figures");
    const before = Number(await viewersShown(page));
    await recorded(caller, id, [{ id: base, type: "VIEW", channel: "LIVE", viewerId: base, seconds: 5 }]);
    await until(async () => (await viewersShown(page)) === String(before + 1), "the figures with the event");
    await page.getByRole("button", { name: /^Stop/u }).click();

    await page.goto(`${base}/`);
    await page.getByRole("link", { name: /API reference/u }).click();
    await authorize(page, store.token);
    expect(await retrieve(page, "mug")).toMatchObject({ status: expect.stringMatching(/^200/u), body: { id: "mug" } });
    await expect.poll(() => page.locator(".curl-command").innerText()).toContain(`${base}/external/product/v1/mug`);
    expectClean(opened, [/401/u]);
    await opened.close();

    const dashboard = await openNewestShow(browser, { url: base }, store);
    await dashboard.page.getByRole("heading", { level: 1, name: "Autumn looks" }).waitFor();
    expect(new URL(dashboard.page.url()).pathname).toBe(`${prefix}/dashboard`);
    expectClean(dashboard);
    await dashboard.close();
  });

  test("the tracker of /demo records events, with a key for other origins", async () => {
    const proxy = await start();
    onTestFinished(() => proxy.close());
    const base = `http://127.0.0.1:${proxy.port}${prefix}`;
    const show = await saved(store, { name: "Autumn looks", status: "LIVE", durationSeconds: null });
    const { key, origins } = await issueKey(apps.plain.db, store.id, { origins: ["https://elsewhere.example"] });
    const products = [{ id: "mug", title: "Mug", price: 12.5 }];
    for (const app of Object.values(apps)) {
      app.showDemoShop({ key, origins, show: { id: show.id, name: "Autumn looks" }, products, currency: "EUR" });
    }
    const opened = await browser.open(`${base}/demo`, person);
    await opened.page.getByRole("button", { name: /Mug/u }).click();
    const kpis = () => readKpis(store, show.id);
    await until(async () => (await kpis()).addToCart.live === 100, "the cart");
    expect((await kpis()).viewers.live).toBe(1);
    await expect.poll(() => opened.page.locator("#uncounted").isVisible()).toBe(false);
    await opened.page.getByRole("link", { name: "Open the dashboard" }).click();
    await until(async () => opened.page.context().pages().length > 1, "the dashboard");
    expect(new URL(opened.page.context().pages().at(-1)?.url() ?? "").pathname).toBe(`${prefix}/dashboard`);
    expectClean(opened);
    await opened.close();
  });
});

test("the first page leads to the others where a proxy shows it without a final slash", async () => {
  const replaced = `http-request replace-path ${prefix}(/)?(.*) /\\2`;
  const proxy = await startHaproxy(haproxy, portOf(apps.plain), [replaced]);
  onTestFinished(() => proxy.close());
  const opened = await browser.open(`http://127.0.0.1:${proxy.port}${prefix}`);
  await opened.page.getByRole("link", { name: /Dashboard/u }).click();
  await opened.page.getByRole("button", { name: "Open dashboard" }).waitFor();
  await expect.poll(() => new URL(opened.page.url()).pathname).toBe(`${prefix}/dashboard`);
  expectClean(opened);
  await opened.close();
});
