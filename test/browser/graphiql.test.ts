// @tier all
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { issueToken } from "../../src/stores/token.js";
import { revokeToken } from "../../src/stores/token.replace.js";
import { createTestStore, startApp } from "../support/app.js";
import {
  expectAccessible,
  expectClean,
  openAppInBrowser,
  phone,
  setLook,
  type TestPage,
} from "../support/browser/browser.js";
import { answerOf, editors, fill, openTab, run, textOf, untilTabIs, useToken } from "../support/browser/graphiql.js";
import { until } from "../support/until.js";
import { paths, product } from "../support/products.js";

const { app, browser } = await openAppInBrowser();
const store = await createTestStore(app);

const findings = {
  "color-contrast": "the colours that the editor gives to line numbers and comments are its theme's",
  "nested-interactive": "GraphiQL puts two buttons into each tab",
};

const looks = { light: { colorScheme: "light" }, phone } as const;

/** Opens GraphiQL as somebody who has no token yet, and looks at all of it. */
async function openAsNew(look: keyof typeof looks): Promise<TestPage> {
  const opened = await browser.open(`${app.url}/graphql`, looks[look]);
  const { page } = opened;
  await page.getByRole("tab").first().waitFor();
  await expect
    .poll(() => page.getByRole("tab").allInnerTexts())
    .toEqual(["BestProducts", "WeekAgainstLast", "LiveFigures", "ImportProduct", "ExportProducts"]);
  await page.locator(`${editors.operation} .view-lines`).waitFor();
  await page.getByLabel("Access token").waitFor();
  await expect.poll(() => textOf(page, editors.below)).toContain(look === "phone" ? "{" : '"show": "summer-sale"'); // a phone has room for its first line
  await expect
    .poll(() => page.evaluate("document.documentElement.scrollHeight - innerHeight"), { message: "nothing is cut off" })
    .toBe(0);
  const shortcuts = await page.getByRole("button", { name: "Open settings dialog" }).boundingBox();
  expect((shortcuts?.y ?? Infinity) + (shortcuts?.height ?? 0)).toBeLessThan(page.viewportSize()?.height ?? 0);
  await opened.screenshot(`graphiql.${look}`);
  await expectAccessible(opened, findings);
  return opened;
}

test("GraphiQL shows its examples and a field for the token: phone", async () => {
  const opened = await openAsNew("phone");
  expect(await opened.page.evaluate("sessionStorage.length")).toBe(0);
  expectClean(opened); // nothing is asked without a token, the schema neither
  await opened.close();
});

const schemaButton = "Show Documentation Explorer";

/** Whether GraphiQL knows the schema. */
async function knowsSchema(page: Page): Promise<boolean> {
  const open = page.getByRole("button", { name: schemaButton });
  if ((await open.count()) > 0) await open.click();
  return page.getByText("Root Types").isVisible();
}

describe("opened without a token", () => {
  let opened: TestPage;
  const addresses: string[] = [];

  test("GraphiQL shows its examples and a field for the token, light and dark", async () => {
    opened = await openAsNew("light");
    await setLook(opened.page, "dark");
    await expectAccessible(opened, findings);
    await opened.screenshot("graphiql.dark");
    opened.page.on("request", (request) => void addresses.push(request.url()));
    expect(await opened.page.evaluate("sessionStorage.length")).toBe(0);
    expectClean(opened);
  });

  test("an operation is refused without a token, and answered with the one that is typed in, which loads the schema", async () => {
    const { page } = opened;
    await openTab(page, "ImportProduct");
    await run(page);
    await until(async () => (await answerOf(page)).includes("UNAUTHENTICATED"), "the refusal");
    await useToken(page, store.token);
    await run(page);
    await until(async () => (await answerOf(page)).includes('"created": 1'), "the answer");
    expect(JSON.parse(await answerOf(page))).toEqual({
      data: { importProduct: { message: "1 product was imported.", imported: 1, created: 1, updated: 0 } },
    });
    expect(await store.get(paths.of("mug"))).toMatchObject({ status: 200, body: { id: "mug", sku: "M-1" } });
    await opened.screenshot("graphiql.answer");
    await until(() => knowsSchema(page), "the schema");
  });

  test("the token is requested once: all tabs and a reload keep it, and it is stored nowhere else", async () => {
    const { page } = opened;
    await openTab(page, "ExportProducts");
    await run(page);
    await until(async () => (await answerOf(page)).includes('"data"'), "the answer of another tab");
    await page.getByRole("button", { name: /^(?:Add|New) tab/iu }).click();
    await fill(page, editors.operation, "query Mine { __typename }");
    await untilTabIs(page, "Mine");
    await run(page);
    await until(async () => (await answerOf(page)).includes('"__typename": "Query"'), "the answer of a new tab");
    const tabs = () => page.evaluate('localStorage.getItem("graphiql:tabState")');
    await until(async () => String(await tabs()).includes('"title":"Mine"'), "the tabs to be stored");

    await page.reload();
    await page.getByRole("button", { name: "Replace token" }).waitFor();
    await until(() => knowsSchema(page), "the schema after a reload");
    await expect
      .poll(() => page.getByRole("tab").allInnerTexts())
      .toEqual(["BestProducts", "WeekAgainstLast", "LiveFigures", "ImportProduct", "ExportProducts", "Mine"]);
    await run(page);
    await until(async () => (await answerOf(page)).includes('"__typename": "Query"'), "the answer after a reload");

    const kept = await page.evaluate("JSON.stringify({ ...sessionStorage })");
    expect(JSON.parse(String(kept))).toEqual({ "vitrine.token /": store.token });
    expect(await page.evaluate("JSON.stringify([localStorage, document.cookie])")).not.toContain(store.token);
    expect([...addresses, page.url()].filter((address) => address.includes(store.token))).toEqual([]);
    expect([...app.accessLog, ...app.logged].filter((line) => line.includes(store.token))).toEqual([]);
    expectClean(opened, [/401/u]);
    await page.getByRole("button", { name: "Forget token" }).click();
    await page.getByLabel("Access token").waitFor();
    expect(await page.evaluate("sessionStorage.length")).toBe(0);
  });

  test("a token that is refused is reported and can be replaced, and so can one that stops working", async () => {
    const { page } = opened;
    const input = page.getByLabel("Access token");
    const problem = page.getByRole("banner").getByRole("alert");
    const submit = () => page.getByRole("button", { name: "Use token" }).click();
    await submit();
    await expect.poll(() => problem.innerText()).toBe("Enter an access token.");
    await input.fill("vt_ä");
    await submit();
    await expect.poll(() => problem.innerText()).toContain("characters that no token has");
    await input.fill(`vt_${"x".repeat(43)}`);
    await submit();
    await expect.poll(() => problem.innerText()).toContain("does not know this access token");
    await opened.screenshot("graphiql.refused");
    expect(await page.evaluate("sessionStorage.length")).toBe(0);

    const { id, token } = await issueToken(app.db, store.id);
    await useToken(page, token);
    await openTab(page, "ExportProducts");
    await run(page);
    await until(async () => (await answerOf(page)).includes('"data"'), "the answer");
    await revokeToken(app.db, store.id, id);
    await until(async () => {
      const [answer] = await Promise.all([page.waitForResponse(`${app.url}/graphql`), run(page)]);
      return answer.status() === 401;
    }, "the refusal of the revoked token");
    await expect.poll(() => problem.innerText()).toContain("was revoked or has expired");
    expect(await page.evaluate("sessionStorage.length")).toBe(0);
    await useToken(page, store.token);
    await run(page);
    await until(async () => (await answerOf(page)).includes('"data"'), "the answer with another token");

    await page.getByRole("button", { name: "Replace token" }).click();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Replace token" }).waitFor();
    expectClean(opened, [/401/u]);
    await opened.close();
  });
});

describe("opened from the dashboard", () => {
  let opened: TestPage;
  beforeAll(async () => {
    opened = await browser.open(`${app.url}/dashboard#token=${store.token}`);
    await opened.page.getByRole("button", { name: "Sign out" }).waitFor();
    await opened.page.goto(`${app.url}/graphql`);
    return () => opened.close();
  });

  test("GraphiQL uses the same token", async () => {
    const { page } = opened;
    await until(() => knowsSchema(page), "the schema");
    await expect.poll(() => page.getByLabel("Access token").isVisible()).toBe(false);
    expectClean(opened);
  });

  test("a headers editor with a token of its own takes precedence", async () => {
    const other = await createTestStore(app);
    await other.post(paths.one, { product: product("of-the-other") });
    const { page } = opened;
    await openTab(page, "ExportProducts");
    await page.getByRole("button", { name: "Headers", exact: true }).click();
    await fill(page, editors.below, JSON.stringify({ "X-Service-Access-Token": other.token }));
    await run(page);
    await until(async () => (await answerOf(page)).includes("of-the-other"), "the answer to the other token");
    expectClean(opened);
  });
});

test("the demo token replaces a stored token that no longer works", async () => {
  const demo = await startApp();
  demo.showDemoToken(store.token);
  const opened = await browser.open(`${demo.url}/healthz`);
  const { page } = opened;
  await page.evaluate(`sessionStorage.setItem("vitrine.token /", "vt_${"x".repeat(43)}")`);
  await page.goto(`${demo.url}/graphql`);
  await page.getByText("token of the demo store").waitFor();
  await until(() => knowsSchema(page), "the schema with the demo token");
  expect(await page.evaluate("sessionStorage.length")).toBe(0);
  expectClean(opened, [/401/u]);
  await opened.close();
  await demo.close();
});
