import type { Page } from "playwright-core";
import { until } from "../until.js";

/** Where the operation is, and below it the variables or headers, whichever is shown. */
export const editors = {
  operation: ".graphiql-query-editor",
  below: ".graphiql-editor-tool .graphiql-editor:not(.hidden)",
};

/** Writes a text in place of an editor's, and takes away the brackets and quotes with which the editor completes it. */
export async function fill(page: Page, editor: string, text: string): Promise<void> {
  await page.locator(`${editor} .view-lines`).click();
  await page.keyboard.press("ControlOrMeta+A");
  await page.keyboard.insertText(text);
  await page.keyboard.press("ControlOrMeta+Shift+End");
  await page.keyboard.press("Delete");
  await until(async () => (await textOf(page, editor)) === text, `the editor to hold ${text}`);
}

/** Opens the tab of an example. */
export async function openTab(page: Page, name: string): Promise<void> {
  await page.locator(`${editors.operation} .view-lines`).waitFor(); // earlier, a click would be lost
  await page.getByRole("tab").getByRole("button", { name, exact: true }).click();
  await until(async () => (await textOf(page, editors.operation)).includes(` ${name}(`), `the tab ${name}`);
  await untilTabIs(page, name);
}

/**
 * Waits until GraphiQL knows the name of the operation in its open tab: it shows the operation before, and would run that of
 * the last tab. It stores tabs after both.
 */
export async function untilTabIs(page: Page, name: string): Promise<void> {
  const stored = async () => String(await page.evaluate("localStorage.getItem('graphiql:tabState')"));
  await until(async () => openTabIn(await stored()) === name, `GraphiQL to know the tab ${name}`);
}

/** The name of the operation in the tab that was open when GraphiQL stored this. */
function openTabIn(stored: string): string | null | undefined {
  const state = JSON.parse(stored) as { tabs: { operationName: string | null }[]; activeTabIndex: number } | null;
  return state?.tabs[state.activeTabIndex]?.operationName;
}

/** The text of an editor as it stands there; Monaco writes no-break spaces. */
export async function textOf(page: Page, editor: string): Promise<string> {
  const text = await page.locator(`${editor} .view-lines`).innerText();
  return text.replaceAll("\u00A0", " ");
}

/** What GraphiQL shows as the answer. */
export const answerOf = (page: Page) => textOf(page, ".result-window");

/** Opens the example of a subscription, for a show of the caller's. */
export async function openLiveFigures(page: Page, show: string): Promise<void> {
  await openTab(page, "LiveFigures");
  await page.getByRole("button", { name: "Variables", exact: true }).click();
  await fill(page, editors.below, JSON.stringify({ show }));
}

/** The viewers that the answer of that example shows; undefined while there is none. */
export async function viewersShown(page: Page): Promise<string | undefined> {
  return /"viewers": \{\s*"total": (\d+)/u.exec(await answerOf(page))?.[1];
}

/** Types the access token in, as a person does. */
export async function useToken(page: Page, token: string): Promise<void> {
  await page.getByLabel("Access token").fill(token);
  await page.getByRole("button", { name: "Use token" }).click();
  await page.getByRole("button", { name: "Replace token" }).waitFor();
}

/** Runs the operation of the open tab. */
export async function run(page: Page): Promise<void> {
  await page.getByRole("button", { name: /^Execute/u }).click();
}
