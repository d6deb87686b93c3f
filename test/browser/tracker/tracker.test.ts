import { expect, test } from "vitest";
import { expectClean, openAppInBrowser } from "../../support/browser.js";
import { until } from "../../support/process.js";
import { openShop } from "../../support/shop.js";

const { app, browser } = await openAppInBrowser({ analyticsRateLimit: 0, collectRateLimit: 0 });

test("a page of another origin, under a strict Content-Security-Policy, reports a view and a cart", async () => {
  const shop = await openShop(app);
  const opened = await shop.open(browser);
  await until(async () => (await shop.kpis()).viewers.live === 1, "the viewer");
  await opened.page.evaluate(`vitrine.push(["addToCart", "linen-shirt"])`);
  await until(async () => (await shop.kpis()).addToCart.live === 100, "the cart");
  expect(await shop.kpis()).toMatchObject({ devices: [{ device: "desktop", value: 100 }] });
  expect(await shop.storedEvents()).toBe(2);
  const gate = new URL(await opened.page.locator("script[data-key]").evaluate((script: any) => script.src)).host;
  expectClean(opened, [], [gate]);
  await opened.close();
});
