import { afterAll, beforeAll, expect, test } from "vitest";
import { startApp, type TestApp } from "../support/app.js";
import { expectAccessible, expectClean, openBrowser, phone, type TestBrowser } from "../support/browser.js";

let app: TestApp;
let browser: TestBrowser;
beforeAll(async () => {
  [app, browser] = await Promise.all([startApp(), openBrowser()]);
});
afterAll(async () => {
  await browser.close();
  await app.close();
});

test.each([
  ["light", { colorScheme: "light" }],
  ["phone", phone],
] as const)(
  "the first page names the service, without faults and readable for everybody: %s",
  async (name, options) => {
    const opened = await browser.open(app.url, options);
    expect(await opened.page.getByRole("heading", { level: 1 }).textContent()).toBe("Vitrine");
    await expectAccessible(opened);
    expectClean(opened);
    await opened.screenshot(`home.${name}`);
    await opened.close();
  },
);
