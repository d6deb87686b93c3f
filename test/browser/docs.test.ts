import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestStore, startApp, type TestApp, type TestStore } from "../support/app.js";
import { expectAccessible, expectClean, openBrowser, phone, type TestBrowser } from "../support/browser.js";
import { documented, paths, product } from "../support/products.js";

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

const findings = { "select-name": "Swagger UI gives its lists of examples no name" };

/** Types the token into the field for it, as a person does. */
async function authorize(page: Page, token: string): Promise<void> {
  await page.getByRole("button", { name: "Authorize", exact: true }).click();
  const dialog = page.locator(".dialog-ux");
  await dialog.getByRole("textbox").fill(token);
  await dialog.getByRole("button", { name: "Apply credentials" }).click();
  await dialog.getByRole("button", { name: "Close", exact: true }).click();
}

/** Opens the operation that retrieves a product, runs it, and gives the answer that is shown. */
async function retrieve(page: Page, productId: string) {
  const operation = page.locator("#operations-Products-product");
  await operation.getByRole("button", { expanded: false }).first().click();
  await operation.getByPlaceholder("productId").fill(productId);
  await operation.getByRole("button", { name: "Execute", exact: true }).click();
  const answer = operation.locator(".live-responses-table .response");
  const body: unknown = JSON.parse(
    await answer.locator(".response-col_description .highlight-code pre").first().innerText(),
  );
  return { status: await answer.locator(".response-col_status").innerText(), body };
}

test.each([
  ["light", { colorScheme: "light" }],
  ["dark", { colorScheme: "dark" }],
  ["phone", phone],
] as const)("the API reference shows every documented path: %s", async (name, options) => {
  const opened = await browser.open(`${app.url}/docs`, options);
  const { page } = opened;
  await page
    .getByRole("heading", { level: 1 })
    .or(page.getByRole("heading", { level: 2 }))
    .first()
    .waitFor();
  await page.locator(".opblock").first().waitFor();
  expect(
    (await page.locator(".opblock-summary-path").allInnerTexts()).map((path) => path.replaceAll("\u200B", "")),
  ).toEqual([
    "/external/product/v1/bulk",
    "/external/product/v1/bulk/csv",
    "/external/product/v1",
    "/external/product/v1/{productId}",
    "/external/product/v1/{productId}",
    "/external/analytics/v1/live-streams/{lsId}",
  ]);
  await opened.screenshot(`docs.${name}`);
  await expectAccessible(opened);
  expectClean(opened);
  await opened.close();
});

test("a call is refused without a token, and answered with the one that is typed in, which is not stored", async () => {
  const mug = product("mug");
  await store.post(paths.one, { product: mug });
  const opened = await browser.open(`${app.url}/docs`);
  expect(await retrieve(opened.page, "mug")).toMatchObject({ status: "401", body: { code: "UNAUTHENTICATED" } });
  expectClean(opened, [/401/u]);
  await opened.page.reload();
  await authorize(opened.page, store.token);
  const answer = await retrieve(opened.page, "mug");
  expect({ ...answer, status: answer.status.slice(0, 3) }).toEqual({ status: "200", body: documented(mug) });
  await opened.screenshot("docs.answer");
  await expectAccessible(opened, findings);
  await opened.page.emulateMedia({ colorScheme: "dark" });
  await opened.page.locator("html.dark-mode").waitFor();
  await expectAccessible(opened, findings);
  const stored = await opened.page.evaluate("JSON.stringify([localStorage, sessionStorage, document.cookie])");
  expect(stored).not.toContain(store.token);
  expectClean(opened, [/401/u]);
  await opened.close();
});
