import type { Locator, Page } from "playwright-core";

/** Types the token into the field for it, as a person does. */
export async function authorize(page: Page, token: string): Promise<void> {
  await page.getByRole("button", { name: "Authorize", exact: true }).click();
  const dialog = page.locator(".dialog-ux");
  await dialog.getByRole("textbox").fill(token);
  await dialog.getByRole("button", { name: "Apply credentials" }).click();
  await dialog.getByRole("button", { name: "Close", exact: true }).click();
}

/** Executes an open operation, in place of whose last answer, if any, the next one is shown. */
export async function execute(operation: Locator): Promise<void> {
  const clear = operation.getByRole("button", { name: "Clear" });
  if ((await clear.count()) > 0) await clear.click();
  await operation.getByRole("button", { name: "Execute", exact: true }).click();
}

/** Opens the operation that retrieves a product, runs it, and gives the answer that is shown. */
export async function retrieve(page: Page, productId: string) {
  const operation = page.locator("#operations-Products-getProduct");
  const summary = operation.locator(".opblock-summary-control");
  if ((await summary.getAttribute("aria-expanded")) === "false") await summary.click();
  await operation.getByPlaceholder("productId").fill(productId);
  await execute(operation);
  const answer = operation.locator(".live-responses-table .response");
  const body: unknown = JSON.parse(
    await answer.locator(".response-col_description .highlight-code pre").first().innerText(),
  );
  return { status: await answer.locator(".response-col_status").innerText(), body };
}
