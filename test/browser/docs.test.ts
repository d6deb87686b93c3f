import { expect, test } from "vitest";
import { createTestStore } from "../support/app.js";
import { expectAccessible, expectClean, openAppInBrowser, phone } from "../support/browser.js";
import { documented, paths, product } from "../support/products.js";
import { authorize, retrieve } from "../support/swagger.js";

const { app, browser } = await openAppInBrowser();
const store = await createTestStore(app);

const findings = { "select-name": "Swagger UI gives its lists of examples no name" };

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
    "/external/product/v1/bulk",
    "/external/product/v1/bulk/csv",
    "/external/product/v1/bulk/csv",
    "/external/product/v1",
    "/external/product/v1/{productId}",
    "/external/product/v1/{productId}",
    "/external/analytics/v1/live-streams/{lsId}",
    "/external/analytics/v1/live-streams.csv",
    "/external/analytics/v1/live-streams/{lsId}",
    "/external/analytics/v1/live-streams",
    "/external/analytics/v1/live-streams/{lsId}/events",
  ]);
  await opened.screenshot(`docs.${name}`);
  await expectAccessible(opened);
  await page.locator("#operations-Products-importProducts .opblock-summary-control").click();
  await page.getByRole("button", { name: "Execute", exact: true }).scrollIntoViewIfNeeded();
  const script =
    "[...document.querySelectorAll('.responses-table')].map((table) => table.scrollWidth - table.parentElement.clientWidth)";
  const overhangs: number[] = await page.evaluate(script);
  expect(Math.max(...overhangs), "wider than its box").toBeLessThanOrEqual(0);
  await opened.screenshot(`docs.${name}.operation`);
  await expectAccessible(opened, { ...findings, label: "Swagger UI gives its field for bodies no label" });
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
