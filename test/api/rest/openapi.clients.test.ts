// @tier all
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { folderForTest } from "../../support/folder.js";
import { openDocumentedApp } from "../../support/http/openapi.js";

const { document } = await openDocumentedApp();

const run = async (...args: string[]) => promisify(execFile)(process.execPath, args);

/** A folder with the document, and with a client that a generator has made of it. */
async function generated(program: string, args: (folder: string) => string[]): Promise<string> {
  const folder = await folderForTest();
  await writeFile(join(folder, "package.json"), `{ "type": "module" }`);
  await writeFile(join(folder, "openapi.json"), JSON.stringify(document));
  await run("--import", "./test/support/run/typescriptLibrary.js", program, ...args(folder));
  return folder;
}

const options = "--ignoreConfig --noEmit --strict --noUncheckedIndexedAccess --target es2022 --module esnext";

/** What the compiler finds wrong with a program and the client that it uses: nothing, if all is well. */
async function faultsOf(folder: string, program: string, ...more: string[]): Promise<string> {
  await writeFile(join(folder, "use.ts"), program);
  const args = [...options.split(" "), "--moduleResolution", "bundler", ...more, join(folder, "use.ts")];
  return run("node_modules/typescript/lib/tsc.js", ...args).then(
    () => "",
    ({ stdout }: { stdout: string }) => stdout,
  );
}

const shirt = `{ id: "a", sku: "b", title: "c", available: true, featured_image: "//x/y", url: "//x/y" }`;

test("the types of openapi-typescript compile strictly, and fit the calls that callers make", async () => {
  const folder = await generated("node_modules/openapi-typescript/bin/cli.js", (place) => [
    join(place, "openapi.json"),
    "--output",
    join(place, "api.ts"),
  ]);
  const use = `
    import type { components, paths } from "./api.js";
    type Schemas = components["schemas"];
    type List = paths["/external/analytics/v1/live-streams"]["get"];
    type Import = paths["/external/product/v1/bulk"]["post"]["requestBody"]["content"]["application/json"];
    export const withoutOrder: NonNullable<List["parameters"]["query"]> = { first: 5, status: "LIVE" };
    // @ts-expect-error a number is not written as text
    export const withText: NonNullable<List["parameters"]["query"]> = { first: "5" };
    export const ordered: NonNullable<List["parameters"]["query"]> = { orderBy: "SALES", direction: "ASC" };
    export const whole: Import = { products: [${shirt}] };
    export const replacing: Import = { mode: "REPLACE", maxDeletions: 3, dryRun: true, products: [${shirt}] };
    export const patch: Import = { mode: "PATCH", products: [{ id: "a", price: null }] };
    // @ts-expect-error a product of an import has all required fields
    export const partial: Import = { products: [{ id: "a" }] };
    export const answers = (list: List["responses"][200]["content"]["application/json"], problem: Schemas["ProblemDetails"]) => {
      const id: string | undefined = list.nodes[0]?.id;
      const code: Schemas["ErrorCode"] = problem.code;
      return [id, code];
    };
    export const price = (product: Schemas["FullProduct"]): number | null => product.price;
    // @ts-expect-error the documented answer has five fields
    export const documented = (product: Schemas["Product"]) => product.price;
  `;
  expect(await faultsOf(folder, use, "--exactOptionalPropertyTypes")).toBe("");
});

test("the client of hey-api compiles strictly, and fits the calls that callers make", async () => {
  const folder = await generated("node_modules/@hey-api/openapi-ts/dist/run.mjs", (place) => [
    "--no-log-file",
    "--input",
    join(place, "openapi.json"),
    "--output",
    join(place, "api"),
  ]);
  const use = `
    import { getProduct, getStoreAnalytics, importProducts, listLiveStreams, listProducts } from "./api/index.js";
    const range = { from: "2026-01-01T00:00:00Z", until: "2027-01-01T00:00:00Z" };
    export async function calls() {
      await listLiveStreams();
      const { data: shows } = await listLiveStreams({ query: { first: 5 } });
      // @ts-expect-error a number is not written as text
      await listLiveStreams({ query: { first: "5" } });
      const { data: imported } = await importProducts({ body: { products: [${shirt}] } });
      await importProducts({ body: { mode: "PATCH", products: [{ id: "a", price: 5 }] } });
      const { data: product, error } = await getProduct({ path: { productId: "a" } });
      const { data: products } = await listProducts();
      const price: number | null | undefined = products?.nodes[0]?.price;
      const { data: figures } = await getStoreAnalytics({ query: range });
      return [shows?.nodes, imported?.created, product?.title, error?.code, price, figures?.previous.showCount];
    }
  `;
  expect(await faultsOf(folder, use)).toBe("");
});
