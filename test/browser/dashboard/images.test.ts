// @tier all
import { expect, test } from "vitest";
import { createTestStore } from "../../support/app.js";
import { expectAccessible, expectClean, openAppInBrowser } from "../../support/browser/browser.js";
import { enterToken, followNewestShow, openSignIn } from "../../support/browser/dashboard.js";
import { view } from "../../support/events.js";
import { importMany, product } from "../../support/products.js";
import { recorded, saved } from "../../support/shows.js";

const { app, browser } = await openAppInBrowser({ analyticsRateLimit: 0 });

const picture = `<svg xmlns="http://www.w3.org/2000/svg" width="32" height="32"><rect width="32" height="32" fill="#c96"/></svg>`;

test("images of top products are loaded over HTTPS only, without a referrer, and omitted if they fail", async () => {
  const images = {
    plain: "https://images.example/plain.svg",
    relative: "//images.example/relative.svg",
    broken: "https://images.example/broken.svg",
    insecure: "http://images.example/insecure.svg",
  };
  const store = await createTestStore(app);
  const products = Object.entries(images).map(([id, featured_image]) => product(id, { featured_image }));
  await store.graphql(importMany, { products });
  const { id: lsId } = await saved(store, { name: "Show" });
  const ids = [...Object.keys(images), "unknown"];
  await recorded(
    store,
    lsId,
    ids.map((productId, index) => view(`${index}`, { type: "ADD_TO_CART", productId })),
  );

  const opened = await openSignIn(browser, app);
  const { page } = opened;
  const requested: string[] = [];
  const referrers: (string | undefined)[] = [];
  await page.route(/images\.example/u, (route) => {
    const request = route.request();
    requested.push(request.url());
    referrers.push(request.headers()["referer"]);
    if (request.url().includes("broken")) return route.fulfill({ status: 404 });
    return route.fulfill({ contentType: "image/svg+xml", body: picture });
  });
  await enterToken(page, store.token);
  await followNewestShow(page);
  const rows = page.getByRole("region", { name: "Top products" }).getByRole("row");
  const loaded = page.locator("img.image");
  await page.getByRole("heading", { name: "Top products" }).scrollIntoViewIfNeeded();
  await expect.poll(() => loaded.count()).toBe(2); // the broken one has gone
  await expect
    .poll(() =>
      loaded.evaluateAll((all) => all.map((image) => (image as unknown as { naturalWidth: number }).naturalWidth)),
    )
    .toEqual([32, 32]);
  await expect.poll(() => rows.count()).toBe(6);
  // The overview shows them before the show does.
  expect([...new Set(requested)].toSorted()).toEqual([
    "https://images.example/broken.svg",
    "https://images.example/plain.svg",
    "https://images.example/relative.svg",
  ]);
  expect(new Set(referrers)).toEqual(new Set([undefined]));
  await expectAccessible(opened);
  await opened.screenshot("dashboard.images");
  expectClean(opened, [/status of 404 .*broken/u], ["images.example"]);
  await opened.close();
});
