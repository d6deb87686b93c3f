// @tier all
import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { issueKey } from "../../../src/stores/publicKey.js";
import { createTestStore } from "../../support/app.js";
import { expectClean, openAppInBrowser } from "../../support/browser/browser.js";
import { configurationIn } from "../../support/docs.js";
import { storedEvents } from "../../support/events.js";
import { until } from "../../support/until.js";
import { person, serveUntilFinished } from "../../support/browser/shop.js";
import { readKpis, saved } from "../../support/shows.js";

const { app, browser } = await openAppInBrowser({ analyticsRateLimit: 0, collectRateLimit: 0 });
const page = await readFile("docs/tracking.md", "utf8");

/** The text with what stands in its place; each place must be there, so that the page and this test agree. */
function filled(text: string, values: Readonly<Record<string, string>>): string {
  for (const place of Object.keys(values)) expect(text).toContain(place);
  return Object.entries(values).reduce((all, [place, value]) => all.replaceAll(place, value), text);
}

/** The directive, which also allows the inline script of the snippet, by its nonce, and the page's icon. */
function policyOf(documented: string): string {
  const [, directives = ""] = /^Content-Security-Policy: (.+)$/mu.exec(documented) ?? [];
  return `default-src 'none'; img-src data:; ${filled(directives, { "script-src 'self'": "script-src 'self' 'nonce-shop'" })}`;
}

test.each([
  ["a page without a policy", false],
  ["a page with the documented Content-Security-Policy", true],
])("the snippet of the documentation, in %s of a shop, reports a view and a cart", async (_, isStrict) => {
  const store = await createTestStore(app);
  const { id: lsId } = await saved(store, { status: "LIVE", durationSeconds: null });
  const html = () => {
    const names = { "https://vitrine.example": app.url, "vp_…": key, "summer-sale": lsId };
    const snippet = filled(configurationIn(page, "html"), names);
    return isStrict ? filled(snippet, { "<script>": '<script nonce="shop">' }) : snippet;
  };
  const policy = filled(policyOf(configurationIn(page, "http")), { "https://vitrine.example": app.url });
  const shop = await serveUntilFinished((_request, response) => {
    response.writeHead(200, { "content-type": "text/html", ...(isStrict && { "content-security-policy": policy }) });
    response.end(
      `<!doctype html><html lang="en"><title>Shop</title><link rel="icon" href="data:,"><video muted></video>${html()}`,
    );
  });
  const { key } = await issueKey(app.db, store.id, { origins: [shop] });
  const opened = await browser.open(shop, person);
  await until(async () => (await storedEvents(app, store)) === 2, "a view and a cart");
  expect(await readKpis(store, lsId)).toMatchObject({ viewers: { live: 1 }, addToCart: { live: 100 } });
  expectClean(opened, [], [new URL(app.url).host]);
  await opened.close();
});
