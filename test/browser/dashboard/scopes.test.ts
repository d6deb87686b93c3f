// @tier all
import { beforeAll, expect, test } from "vitest";
import type { Scope } from "../../../src/schema/scopes.js";
import { issueToken } from "../../../src/stores/token.js";
import { createTestStore, type TestStore } from "../../support/app.js";
import { expectClean, openAppInBrowser } from "../../support/browser/browser.js";
import { enterToken, openNewestShow, openSignIn } from "../../support/browser/dashboard.js";
import { view } from "../../support/events.js";
import { paths, product } from "../../support/products.js";
import { recorded, saved } from "../../support/shows.js";

const { app, browser } = await openAppInBrowser({ analyticsRateLimit: 0 });
let store: TestStore;
beforeAll(async () => {
  store = await createTestStore(app);
  await store.post(paths.one, { product: product("shirt", { title: "Linen shirt" }) });
  const { id } = await saved(store, { name: "Autumn looks" });
  await recorded(store, id, [
    view("e1"),
    { id: "e2", type: "ADD_TO_CART", channel: "LIVE", viewerId: "v1", productId: "shirt" },
  ]);
});

const withScopes = (...scopes: readonly Scope[]) => issueToken(app.db, store.id, { scopes });

test("with analytics:read alone, the dashboard shows all figures, and products by their ids", async () => {
  const opened = await openNewestShow(browser, app, await withScopes("analytics:read"));
  const { page } = opened;
  await page.getByRole("heading", { level: 1, name: "Autumn looks" }).waitFor();
  await page.getByRole("rowheader", { name: "shirt", exact: true }).waitFor();
  await page.getByText("For titles and images, the access token needs the scope catalog:read.").waitFor();
  await expect.poll(() => page.getByText("Linen shirt").count()).toBe(0);
  await expect.poll(() => page.getByRole("button", { name: "New show" }).count()).toBe(0);
  expectClean(opened);
});

test("with catalog:read too, it shows their titles; with shows:write, it creates shows", async () => {
  const { page } = await openNewestShow(browser, app, await withScopes("analytics:read", "catalog:read"));
  await page.getByText("Linen shirt").waitFor();
  await expect.poll(() => page.getByText("catalog:read").count()).toBe(0);
  await expect.poll(() => page.getByRole("button", { name: "New show" }).count()).toBe(0);
  const writing = await openNewestShow(browser, app, await withScopes("analytics:read", "shows:write"));
  await writing.page.getByRole("button", { name: "New show" }).waitFor();
});

test("without analytics:read, the sign-in says that it is needed", async () => {
  const { page } = await openSignIn(browser, app);
  await enterToken(page, (await withScopes("catalog:read")).token);
  const problem = page.getByText("The access token does not have the scope analytics:read. The dashboard needs it.");
  await expect.poll(() => problem.count()).toBe(1);
});

test("a link whose token lacks analytics:read says so too", async () => {
  const { token } = await withScopes("events:write");
  const { page } = await browser.open(`${app.url}/dashboard#token=${token}`);
  const problem = page.getByRole("alert").filter({ hasText: "does not have the scope analytics:read." });
  await expect.poll(() => problem.count()).toBe(1);
});
