// @tier all
import type { Route } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { needed } from "../../support/run/programs.js";
import { createTestStore } from "../../support/app.js";
import { expectAccessible, expectClean, openAppInBrowser } from "../../support/browser/browser.js";
import { openNewestShow } from "../../support/browser/dashboard.js";
import { order } from "../../support/events.js";
import { startNginx } from "../../support/process/proxies.js";
import { recorded, saved } from "../../support/shows.js";
import { until } from "../../support/until.js";

const nginx = needed("TEST_NGINX");

const { app, browser } = await openAppInBrowser({ analyticsRateLimit: 0 });

test("behind a proxy that buffers live figures, the page says so and polls until the proxy passes them on", async () => {
  const store = await createTestStore(app);
  const { id: lsId } = await saved(store, { status: "LIVE", name: "On air", startedAt: new Date().toISOString() });
  await recorded(store, lsId, [order("1", 1.5)]);
  const passing = `proxy_pass ${app.url};`;
  const proxy = await startNginx(nginx, `${passing} proxy_ignore_headers X-Accel-Buffering;`);
  onTestFinished(() => proxy.close());
  const opened = await openNewestShow(browser, { url: `http://127.0.0.1:${proxy.port}` }, store);
  const { page } = opened;
  const sales = (total: string) => page.getByRole("article").filter({ hasText: "Sales" }).getByText(total).first();
  const notice = page.getByRole("alert").filter({ hasText: "A proxy seems to hold live figures back." });

  await sales("1.50").waitFor(); // the first query, after 5 seconds
  await notice.waitFor();
  await page.getByRole("status").filter({ hasText: "Delayed" }).waitFor();
  await expectAccessible(opened);
  await opened.screenshot("dashboard.heldBack");
  await recorded(store, lsId, [order("2", 2)]);
  await sales("3.50").waitFor(); // the second one, after 10 more
  await expect.poll(() => notice.count()).toBe(1);

  await proxy.reload(passing);
  await page.getByRole("status").filter({ hasText: "Up to date" }).waitFor();
  await expect.poll(() => notice.count()).toBe(0);
  await recorded(store, lsId, [order("3", 2)]);
  await sales("5.50").waitFor();
  expectClean(opened);
  await opened.close();
});

test("a slow server is not mistaken for a proxy that buffers", async () => {
  const store = await createTestStore(app);
  await saved(store, { status: "LIVE", name: "On air", startedAt: new Date().toISOString() });
  const opened = await openNewestShow(browser, app, store);
  const { page } = opened;
  await page.getByRole("status").filter({ hasText: "Up to date" }).waitFor();
  const held: Route[] = [];
  let isSlow = true;
  await page.route("**/graphql", (route) => (isSlow ? void held.push(route) : route.continue()));
  await page.clock.install();
  await page.reload();
  const seen = page.waitForResponse((response) => response.request().postData()?.includes("query ShowNow") === true);
  await until(() => held.length > 0, "the first request");
  await page.clock.runFor(7_000);
  isSlow = false;
  await Promise.all(held.map((route) => route.continue().catch(() => undefined))); // some were given up meanwhile
  await page.getByRole("status").filter({ hasText: "Up to date" }).waitFor();
  await expect.poll(() => page.getByRole("alert").count()).toBe(0);
  await seen; // the query was sent too late to matter
  await expect.poll(() => page.getByRole("alert").count()).toBe(0);
  expectClean(opened);
  await opened.close();
});
