// @tier all
import type { Locator } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { needed } from "../../support/run/programs.js";
import { createTestStore } from "../../support/app.js";
import { expectAccessible, expectClean, openAppInBrowser } from "../../support/browser/browser.js";
import { enterToken, followNewestShow, openSignIn } from "../../support/browser/dashboard.js";
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
  const opened = await openSignIn(browser, { url: `http://127.0.0.1:${proxy.port}` });
  const { page } = opened;
  await page.clock.install();
  await enterToken(page, store.token);
  await followNewestShow(page);
  /** Lets seconds of the page pass until something holds. */
  const untilSeen = (what: Locator) =>
    until(async () => {
      if (!(await what.isVisible())) await page.clock.runFor(1_000);
      return what.isVisible();
    }, String(what));
  const sales = (total: string) => page.getByRole("article").filter({ hasText: "Sales" }).getByText(total).first();
  const notice = page.getByRole("alert").filter({ hasText: "A proxy seems to hold live figures back." });

  await untilSeen(sales("1.50")); // the first query, after 5 seconds
  await notice.waitFor();
  await page.getByRole("status").filter({ hasText: "Delayed" }).waitFor();
  await expectAccessible(opened);
  await opened.screenshot("dashboard.heldBack");
  await recorded(store, lsId, [order("2", 2)]);
  await untilSeen(sales("3.50")); // the second one, after 10 more
  await expect.poll(() => notice.count()).toBe(1);

  await proxy.reload(passing);
  await untilSeen(page.getByRole("status").filter({ hasText: "Up to date" }));
  await expect.poll(() => notice.count()).toBe(0);
  await recorded(store, lsId, [order("3", 2)]);
  await sales("5.50").waitFor();
  expectClean(opened);
  await opened.close();
});
