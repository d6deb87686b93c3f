import type { Locator, Request } from "playwright-core";
import { expect, test } from "vitest";
import { expectClean, openBrowser } from "../support/browser.js";
import { migratedPlaceForTest, serve } from "../support/process.js";
import { execute } from "../support/swagger.js";

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
  const requests: Request[] = [];
  page.on("request", (request) => void requests.unshift(request));
  for (const operation of operations.toReversed()) {
    expect([await operation.getAttribute("id"), await executeAsFilledIn(operation)]).toEqual([
      expect.anything(),
      "200",
    ]);
  }
  expect(requests).toHaveLength(operations.length);
  for (const request of requests) expect([request.url(), await repeat(request)]).toEqual([request.url(), 200]);
  expectClean(opened);
  await opened.close();
  await server.stop();
});
