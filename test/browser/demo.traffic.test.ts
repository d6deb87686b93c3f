// @tier all
import { expect, test } from "vitest";
import { expectClean, openBrowser } from "../support/browser/browser.js";
import { answerOf, editors, openTab, run, viewersShown } from "../support/browser/graphiql.js";
import { migratedPlaceForTest, serve } from "../support/process.js";
import { until } from "../support/until.js";

test("the demo store needs no input: GraphiQL shows its best products, and the changing figures of its live show", async () => {
  const { env } = await migratedPlaceForTest();
  const [server, browser] = await Promise.all([serve(env), openBrowser()]);
  const opened = await browser.open(`${server.url}/graphql`);
  const { page } = opened;
  await page.locator(`${editors.operation} .view-lines`).waitFor();
  await page.getByText("token of the demo store").waitFor();
  expect(await page.evaluate("sessionStorage.length")).toBe(0);
  await run(page);
  await until(async () => (await answerOf(page)).includes('"name": "Summer sale"'), "the demo's best products");
  await openTab(page, "LiveFigures");
  await run(page);
  await until(async () => (await viewersShown(page)) !== undefined, "the first figures");
  const first = await viewersShown(page);
  await until(async () => (await viewersShown(page)) !== first, "other figures");
  expectClean(opened);
  await opened.screenshot("graphiql.demo");
  await opened.close();
  expect((await server.stop()).status).toBe(0);
});
