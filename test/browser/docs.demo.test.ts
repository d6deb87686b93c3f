import type { Locator } from "playwright-core";
import { expect, test } from "vitest";
import { expectClean, openBrowser } from "../support/browser.js";
import { migratedPlaceForTest, serve } from "../support/process.js";

/** Executes an operation as it is filled in, closes it, and gives the status that was shown. */
async function execute(operation: Locator): Promise<string> {
  const summary = operation.locator(".opblock-summary-control");
  await summary.click();
  const clear = operation.getByRole("button", { name: "Clear" });
  if ((await clear.count()) > 0) await clear.click();
  await operation.getByRole("button", { name: "Execute", exact: true }).click();
  const status = await operation.locator(".live-responses-table .response .response-col_status").innerText();
  await summary.dispatchEvent("click"); // each step would render all open operations again, which doubles its time
  return status.slice(0, 3);
}

test("on the demo store every operation of the API reference works as it is filled in, in any order and again", async () => {
  const { env } = await migratedPlaceForTest();
  const [server, browser] = await Promise.all([serve({ ...env, DEMO_TRAFFIC: "false" }), openBrowser()]);
  const opened = await browser.open(`${server.url}/docs`);
  const { page } = opened;
  await page.locator(".opblock").first().waitFor();
  const operations = await page.locator(".opblock").all();
  const ids = await Promise.all(operations.map((operation) => operation.getAttribute("id")));
  expect(ids).toEqual([
    "operations-Products-importProducts",
    "operations-Products-exportProducts",
    "operations-Products-importProductsCsv",
    "operations-Products-exportProductsCsv",
    "operations-Products-importProduct",
    "operations-Products-getProduct",
    "operations-Products-deleteProduct",
    "operations-Analytics-getLiveStreamAnalytics",
    "operations-Analytics-exportLiveStreamAnalyticsCsv",
    "operations-Live_streams-saveLiveStream",
    "operations-Live_streams-listLiveStreams",
    "operations-Live_streams-recordShopperEvents",
  ]);
  for (const operation of [...operations.toReversed(), ...operations]) {
    expect([await operation.getAttribute("id"), await execute(operation)]).toEqual([expect.anything(), "200"]);
  }
  expectClean(opened);
  await opened.close();
  await server.stop();
});
