// @tier all
import type { Locator, Request } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  expectAccessibleAs,
  expectClean,
  openBrowser,
  screens,
  setLook,
  type TestBrowser,
} from "../support/browser/browser.js";
import { storeAt } from "../support/app.js";
import { type Document, operationsOf } from "../support/http/openapi.js";
import { readTiles } from "../support/browser/dashboard.js";
import { makeMigratedPlace, type Place, removePlace, serve, type Serving } from "../support/process.js";
import { ofDay } from "../support/run/tier.js";
import { until } from "../support/until.js";
import { person } from "../support/browser/shop.js";
import { execute } from "../support/browser/swagger.js";

let place: Place;
let server: Serving;
let browser: TestBrowser;
beforeAll(async () => {
  place = await makeMigratedPlace();
  [server, browser] = await Promise.all([serve({ ...place.env, DEMO_TRAFFIC: "false" }), openBrowser()]);
});
afterAll(async () => {
  await server.stop();
  await removePlace(place);
});

const open = (options: object = {}, { url } = server) =>
  browser.open(`${url}/demo`, { ...person, locale: "en-US", ...options });

/** Carts with the shirt in the running show. */
async function carts(): Promise<number> {
  const query = `{ liveStreamAnalytics(lsId: "autumn-looks") { topProducts(first: 12) { productId carts } } }`;
  const { data } = await storeAt(server.url, { id: "demo", token: server.token ?? "" }).graphql(query);
  const products = data.liveStreamAnalytics.topProducts as readonly { productId: string; carts: number }[];
  return products.find(({ productId }) => productId === "linen-shirt")?.carts ?? 0;
}

test("a visitor's actions in the demo shop appear on the dashboard, which a click opens", async () => {
  const before = await carts();
  const shop = await open();
  const opened = shop.page.context().waitForEvent("page");
  await shop.page.getByRole("link", { name: "Open the dashboard" }).click();
  const dashboard = await opened;
  await dashboard.getByRole("heading", { level: 1, name: "Autumn looks" }).waitFor();
  await until(async () => (await readTiles(dashboard))["Viewers"]?.[1] !== undefined, "the viewers");
  await shop.page.getByRole("button", { name: /Linen shirt/u }).click();
  await shop.page.getByText("Linen shirt is in the cart. Look at the dashboard!", { exact: true }).waitFor();
  await until(async () => (await carts()) === before + 1, "the cart");
  const pictures = dashboard.locator("img.image");
  await until(async () => (await pictures.count()) > 0, "pictures of products");
  await pictures.first().scrollIntoViewIfNeeded();
  await until(() => pictures.evaluateAll((all) => all.every((one: any) => one.naturalWidth > 0)), "their files");
  await expect.poll(() => dashboard.locator("span.image").count()).toBe(0);
  expectClean(shop);

  const viewers = async () => Number((await readTiles(dashboard))["Viewers"]?.[1]?.replace(",", ""));
  const known = await viewers();
  const another = await open();
  await until(async () => (await viewers()) === known + 1, "one more viewer on the dashboard");
  await Promise.all([another.close(), shop.close()]);
});

test.each(ofDay(screens, 2))("the demo shop is accessible, and its video plays: %s", async (_, options, looks) => {
  const shop = await open(options);
  await until(() => shop.page.evaluate(`document.querySelector("video").currentTime > 0`), "the video");
  for (const look of looks) {
    await setLook(shop.page, look);
    await expectAccessibleAs(look, shop);
    const width = await shop.page.evaluate("document.documentElement.scrollWidth - innerWidth");
    expect(width, "nothing is cut off").toBeLessThanOrEqual(0);
    await shop.screenshot(`demo.${look}`);
  }
  expectClean(shop);
  await shop.close();
});

test("the home page and the start-up message link to the demo shop", async () => {
  const home = await browser.open(server.url, person);
  await home.page.getByRole("link", { name: /Demo shop/u }).click();
  await home.page.getByRole("heading", { level: 1, name: "Autumn looks" }).waitFor();
  expectClean(home);
  await home.close();
  expect(server.stdout()).toContain(`Demo shop  ${server.url}/demo\n`);
});

/** Executes an operation as it is filled in, and closes it. @returns the status that was shown */
async function executeAsFilledIn(operation: Locator): Promise<string> {
  const summary = operation.locator(".opblock-summary-control");
  await summary.click();
  await execute(operation);
  const status = await operation.locator(".live-responses-table .response .response-col_status").innerText();
  await summary.dispatchEvent("click"); // each step would render all open operations again, which doubles its time
  return status.slice(0, 3);
}

/** Sends once more what the page sent: Swagger UI takes a second to show an answer. @returns the status */
async function repeat(request: Request): Promise<number> {
  const body = request.postDataBuffer();
  const response = await fetch(request.url(), {
    method: request.method(),
    headers: await request.allHeaders(),
    ...(body && { body: new Uint8Array(body) }),
  });
  await response.arrayBuffer();
  return response.status;
}

/** What creates again what an operation deletes is executed after it, on the same day. */
const createdBy: Readonly<Record<string, string>> = {
  "operations-Products-deleteProduct": "operations-Products-importProducts",
  "operations-Live_streams-deleteMoment": "operations-Live_streams-saveMoments",
};
const deletedBy = (id: string) => Object.keys(createdBy).find((deletion) => createdBy[deletion] === id) ?? "";

test("on the demo store every operation of the API reference works as it is filled in, in any order and again", async () => {
  const opened = await browser.open(`${server.url}/docs`);
  const { page } = opened;
  await page.locator(".opblock").first().waitFor();
  const operations = await page.locator(".opblock").all();
  const ids = await Promise.all(operations.map((operation) => operation.getAttribute("id")));
  const document = (await (await fetch(`${server.url}/openapi.json`)).json()) as Document;
  const documented = operationsOf(document).map(
    ({ operation: { tags, operationId } }) => `operations-${tags[0].replaceAll(" ", "_")}-${operationId}`,
  );
  expect(new Set(ids)).toEqual(new Set(documented));
  const requests: Request[] = [];
  page.on("request", (request) => void requests.unshift(request));
  const at = (id: string) => operations.filter((_, index) => ids[index] === id);
  const groups = operations.flatMap((operation, index) => {
    const id = ids[index] ?? "";
    return Object.hasOwn(createdBy, id) ? [] : [[...at(deletedBy(id)), operation]];
  });
  const executed = ofDay(groups.toReversed(), 5).flat();
  for (const operation of executed) {
    expect([await operation.getAttribute("id"), await executeAsFilledIn(operation)]).toEqual([
      expect.anything(),
      "200",
    ]);
  }
  expect(requests).toHaveLength(executed.length);
  for (const request of requests) expect([request.url(), await repeat(request)]).toEqual([request.url(), 200]);
  expectClean(opened);
  await opened.close();
});
