import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestStore, startApp, type TestApp, type TestStore } from "../support/app.js";
import { expectAccessible, expectClean, openBrowser, phone, type TestBrowser } from "../support/browser.js";
import { answerOf, editors, fill, openTab, run, textOf, useToken } from "../support/graphiql.js";
import { readPage } from "../support/pages.js";
import { until } from "../support/process.js";
import { paths } from "../support/products.js";
import { recorded, saved } from "../support/shows.js";

let app: TestApp;
let browser: TestBrowser;
let store: TestStore;
beforeAll(async () => {
  [app, browser] = await Promise.all([startApp(), openBrowser()]);
  store = await createTestStore(app);
});
afterAll(async () => {
  await browser.close();
  await app.close();
});

const findings = {
  "color-contrast": "the colours that the editor gives to line numbers and comments are its theme's",
  "nested-interactive": "GraphiQL puts two buttons into each tab",
};

test.each([
  ["light", { colorScheme: "light" }],
  ["dark", { colorScheme: "dark" }],
  ["phone", phone],
] as const)("GraphiQL shows its examples and a place for the token: %s", async (name, options) => {
  const opened = await browser.open(`${app.url}/graphql`, options);
  const { page } = opened;
  await page.getByRole("tab").first().waitFor();
  expect(await page.getByRole("tab").allInnerTexts()).toEqual([
    "Products",
    "ImportProduct",
    "Analytics",
    "LiveFigures",
  ]);
  await expect
    .poll(() => textOf(page, editors.below))
    .toContain('"X-Service-Access-Token": "paste your access token here"');
  await opened.screenshot(`graphiql.${name}`);
  await expectAccessible(opened, findings);
  expectClean(opened, [/401/u]);
  await opened.close();
});

test("an operation is refused without a token, and answered with the one that is typed in", async () => {
  const opened = await browser.open(`${app.url}/graphql`);
  const { page } = opened;
  await openTab(page, "ImportProduct");
  await run(page);
  await until(async () => (await answerOf(page)).includes("UNAUTHENTICATED"), "the refusal");
  expectClean(opened, [/401/u]);
  await opened.close();

  const known = await browser.open(`${app.url}/graphql`);
  await openTab(known.page, "ImportProduct");
  await useToken(known.page, store.token);
  await run(known.page);
  await until(async () => (await answerOf(known.page)).includes('"created": 1'), "the answer");
  expect(JSON.parse(await answerOf(known.page))).toEqual({
    data: { importProduct: { message: "1 product was imported.", imported: 1, created: 1, updated: 0 } },
  });
  expect(await store.get(paths.of("mug"))).toMatchObject({ status: 200, body: { id: "mug", sku: "M-1" } });
  expectClean(known, [/401/u]);
  await known.screenshot("graphiql.answer");
  await known.close();
});

test("a subscription shows figures that change when an event is recorded", async () => {
  const { id } = await saved(store, { status: "LIVE", durationSeconds: null });
  const opened = await browser.open(`${app.url}/graphql`);
  const { page } = opened;
  await openTab(page, "LiveFigures");
  await page.getByRole("button", { name: "Variables", exact: true }).click();
  await fill(page, editors.below, JSON.stringify({ show: id }));
  await useToken(page, store.token);
  await run(page);
  const viewers = async () => /"viewers": \{\s*"total": (\d+)/u.exec(await answerOf(page))?.[1];
  await until(async () => (await viewers()) === "0", "the first figures");
  await recorded(store, id, [{ id: "e1", type: "VIEW", channel: "LIVE", viewerId: "v1", seconds: 5 }]);
  await until(async () => (await viewers()) === "1", "the figures with the event");
  await recorded(store, id, [{ id: "e2", type: "VIEW", channel: "REPLAY", viewerId: "v2", seconds: 5 }]);
  await until(async () => (await viewers()) === "2", "the figures with both events");
  expect(await answerOf(page)).not.toContain("errors");
  await page.getByRole("button", { name: /^Stop/u }).click();
  expectClean(opened, [/401/u]);
  await opened.close();
});

test("a second visit finds the tabs as they were left, and no token in the browser's storage", async () => {
  const opened = await browser.open(`${app.url}/graphql`);
  const { page } = opened;
  await openTab(page, "Analytics");
  await fill(page, editors.operation, "query Mine { __typename }");
  await useToken(page, store.token);
  await run(page);
  await until(async () => (await answerOf(page)).includes("__typename"), "the answer");
  const stored = () => page.evaluate("JSON.stringify([localStorage, sessionStorage, document.cookie])");
  const tabs = () => page.evaluate('localStorage.getItem("graphiql:tabState")');
  await until(async () => String(await tabs()).includes('"title":"Mine"'), "the tabs to be stored");
  expect(await stored()).not.toContain(store.token);
  await page.reload();
  await page.getByRole("tab").first().waitFor();
  expect(await page.getByRole("tab").allInnerTexts()).toEqual(["Products", "ImportProduct", "Mine", "LiveFigures"]);
  await expect.poll(() => textOf(page, editors.operation)).toContain("query Mine { __typename }");
  await opened.close();
});

test.each([
  ["GRAPHIQL=false", { graphiql: false }],
  ["PERSISTED_OPERATIONS_ONLY=true", { persistedOperationsOnly: true }],
])("%s leaves no trace of it", async (_, config) => {
  const without = await startApp(config);
  const opened = await browser.open(without.url);
  expect(await opened.page.getByRole("link", { name: /GraphiQL/u }).count()).toBe(0);
  const { files } = await readPage(app, "/graphql");
  for (const path of files) expect([path, (await fetch(`${without.url}${path}`)).status]).toEqual([path, 404]);
  const answer = await opened.page.goto(`${without.url}/graphql`);
  expect(answer?.status()).toBe(401);
  await opened.close();
  await without.close();
});
