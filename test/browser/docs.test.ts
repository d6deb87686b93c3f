// @tier all
import type { BrowserContextOptions, Page } from "playwright-core";
import { afterAll, describe, expect, test } from "vitest";
import { createTestStore } from "../support/app.js";
import {
  expectAccessible,
  expectClean,
  openAppInBrowser,
  phone,
  setLook,
  type TestPage,
} from "../support/browser/browser.js";
import { type Document, operationsOf } from "../support/http/openapi.js";
import { documented, paths, product } from "../support/products.js";
import { authorize, retrieve } from "../support/browser/swagger.js";

const { app, browser } = await openAppInBrowser();
const store = await createTestStore(app);

const findings = { "select-name": "Swagger UI gives its lists of examples no name" };

const document = (await (await fetch(`${app.url}/openapi.json`)).json()) as Document;
const documentedPaths = operationsOf(document).map(({ path }) => path);

/** Opens the API reference without a token and looks at it closely. */
async function openAsNew(name: string, options: BrowserContextOptions): Promise<TestPage> {
  const opened = await browser.open(`${app.url}/docs`, options);
  const { page } = opened;
  await page
    .getByRole("heading", { level: 1 })
    .or(page.getByRole("heading", { level: 2 }))
    .first()
    .waitFor();
  await page.locator(".opblock").first().waitFor();
  await expect
    .poll(async () =>
      (await page.locator(".opblock-summary-path").allInnerTexts())
        .map((path) => path.replaceAll("\u200B", ""))
        .toSorted(),
    )
    .toEqual(documentedPaths.toSorted());
  await opened.screenshot(`docs.${name}`);
  await expectAccessible(opened);
  return opened;
}

/** Opens an operation and looks at it in each color scheme. */
async function lookAtOperation(opened: TestPage, name: string, schemes: readonly ("light" | "dark")[]): Promise<void> {
  const { page } = opened;
  const summary = page.locator("#operations-Products-importProducts .opblock-summary-control");
  await summary.click();
  await page.getByRole("button", { name: "Execute", exact: true }).scrollIntoViewIfNeeded();
  const script =
    "[...document.querySelectorAll('.responses-table')].map((table) => table.scrollWidth - table.parentElement.clientWidth)";
  const overhangs: number[] = await page.evaluate(script);
  expect(Math.max(...overhangs), "wider than its box").toBeLessThanOrEqual(0);
  for (const scheme of schemes) {
    await showIn(page, scheme);
    await opened.screenshot(`docs.${name}.${scheme}.operation`);
    await expectAccessible(opened, { ...findings, label: "Swagger UI gives its field for bodies no label" });
  }
  await summary.click();
}

/** Shows the page in a color scheme. */
async function showIn(page: Page, colorScheme: "light" | "dark"): Promise<void> {
  await setLook(page, colorScheme);
  await page.locator(`html${colorScheme === "dark" ? ".dark-mode" : ":not(.dark-mode)"}`).waitFor();
}

describe.each([
  ["phone", phone, ["light"]],
  ["desktop", { colorScheme: "dark" }, ["dark", "light"]], // as it is loaded, and as it follows a change
] as const)("the API reference on a %s", (name, options, schemes) => {
  let opened: TestPage;
  afterAll(() => opened.close());

  test("shows every documented path", async () => {
    opened = await openAsNew(name, options);
    if (name === "phone") {
      await expect.poll(() => opened.page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBe(0);
    }
    expectClean(opened);
  });

  test("shows an operation", async () => {
    await lookAtOperation(opened, name, schemes);
    expectClean(opened);
  });
});

test("a call of the API reference is refused without a token, and answered with the one that is typed in, which is not stored", async () => {
  const mug = product("mug");
  await store.post(paths.one, { product: mug });
  const opened = await browser.open(`${app.url}/docs`);
  expect(await retrieve(opened.page, "mug")).toMatchObject({ status: "401", body: { code: "UNAUTHENTICATED" } });
  expectClean(opened, [/401/u]);
  await authorize(opened.page, store.token);
  const answer = await retrieve(opened.page, "mug");
  expect({ ...answer, status: answer.status.slice(0, 3) }).toEqual({ status: "200", body: documented(mug) });
  await opened.screenshot("docs.answer");
  await expectAccessible(opened, findings);
  const stored = await opened.page.evaluate("JSON.stringify([localStorage, sessionStorage, document.cookie])");
  expect(stored).not.toContain(store.token);
  expectClean(opened, [/401/u]);
  await opened.close();
});
