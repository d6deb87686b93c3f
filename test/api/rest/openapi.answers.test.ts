import { pino } from "pino";
import { beforeAll, describe, expect, test } from "vitest";
import { createApp } from "../../../src/app.js";
import { readConfig } from "../../../src/config.js";
import { connect } from "../../../src/database/open.js";
import { listen } from "../../../src/server/server.js";
import { createTestStore, type TestStore } from "../../support/app.js";
import {
  openDocumentedApp,
  smallLimits,
  type Document,
  faultFinder,
  operationsOf,
  resolved,
} from "../../support/http/openapi.js";

const { app, document, operationAt } = await openDocumentedApp();
const findFaults = faultFinder(document, { closed: true });

const postPaths = ["/external/product/v1", "/external/product/v1/bulk", "/external/product/v1/bulk/csv"];
const bulkPath = "/external/product/v1/bulk";
const productPath = "/external/product/v1/{productId}";
const bodyExample = (path: string) => operationAt("POST", path)["requestBody"].content["application/json"].example;

describe("answers of the running service are as documented", () => {
  let store: TestStore;
  beforeAll(async () => {
    store = await createTestStore(app);
  });

  /** Checks an answer against its operation: status, media type, headers and body. Gives the body. */
  async function documented(method: string, path: string, status: number, response: Response): Promise<any> {
    expect(response.status).toBe(status);
    const description = resolved(document, operationAt(method, path)["responses"][status]);
    const mediaType = response.headers.get("content-type")?.split(";")[0] ?? "";
    expect(Object.keys(description["content"])).toEqual([mediaType]);
    const headers = Object.entries<Document>(description["headers"])
      .filter(([, header]) => resolved(document, header)["required"] !== false)
      .map(([name]) => name.toLowerCase());
    expect([...response.headers.keys()]).toEqual(expect.arrayContaining(headers));
    const { schema, examples } = description["content"][mediaType];
    const body: any = await response.json();
    expect({ body, faults: findFaults(schema, body) }).toEqual({ body, faults: [] });
    if (status !== 200) expect(Object.keys(examples)).toContain(body.code);
    return body;
  }

  const exampleOf = (method: string, path: string, status: number, code: string) =>
    resolved(document, operationAt(method, path)["responses"][status])["content"]["application/problem+json"].examples[
      code
    ].value;
  const sendJson = (path: string, body: unknown) =>
    store.fetch(path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
  const onProduct = (method: string, suffix: string) => store.fetch(`/external/product/v1/${suffix}`, { method });

  test.each(postPaths)(
    "the example body of POST %s is accepted, and its products are read and deleted, with the example responses",
    async (path) => {
      const { example } = operationAt("POST", path)["responses"][200].content["application/json"];
      expect(await documented("POST", path, 200, await sendJson(path, bodyExample(path)))).toEqual(example);
      await sendJson(bulkPath, bodyExample(bulkPath)); // has all products of the examples
      for (const method of ["GET", "DELETE"]) {
        const { parameters, responses } = operationAt(method, productPath);
        const body = await documented(method, productPath, 200, await onProduct(method, parameters[0].example));
        expect(body).toEqual(responses[200].content["application/json"].example);
      }
      for (const id of ["linen-shirt", "wool-scarf"]) await onProduct("DELETE", id);
    },
  );

  test.each(postPaths)("POST %s: every kind of bad request", async (path) => {
    const example = bodyExample(path);
    const [own = ""] = Object.keys(example);
    const malformed = await documented("POST", path, 400, await sendJson(path, "{"));
    expect(malformed).toEqual(exampleOf("POST", path, 400, "BAD_REQUEST"));
    const siteless = await documented("POST", path, 400, await sendJson(path, { ...example, siteId: "nowhere" }));
    expect(siteless).toEqual(exampleOf("POST", path, 400, "SITE_NOT_FOUND"));
    for (const body of [
      [],
      {},
      { ...example, colour: "red" },
      { [own]: null },
      { [own]: 5 },
      { ...example, siteId: 5 },
    ]) {
      await documented("POST", path, 400, await sendJson(path, body));
    }
  });

  test("invalid products give the example problems", async () => {
    const [path, , csvPath] = postPaths as [string, string, string];
    const { product } = bodyExample(path);
    const [shirt, scarf] = bodyExample(bulkPath).products;
    const badPrice = { ...shirt, price: -1 };
    const invalid = {
      [path]: { product: { ...product, price: -1 } },
      [bulkPath]: { products: [badPrice, { ...scarf, url: "javascript:alert(1)" }] },
      [csvPath]: { csvContent: bodyExample(csvPath).csvContent.replace(",59.9,", ",-1,") },
    };
    for (const [where, body] of Object.entries(invalid)) {
      const answer = await documented("POST", where, 400, await sendJson(where, body));
      expect(answer).toEqual(exampleOf("POST", where, 400, "VALIDATION_FAILED"));
    }
    await documented("POST", bulkPath, 400, await sendJson(bulkPath, { products: [shirt, shirt] }));
    const partly = { products: [shirt, badPrice, {}], errorPolicy: "REJECT_FAILED", dryRun: true };
    expect(await documented("POST", bulkPath, 200, await sendJson(bulkPath, partly))).toMatchObject({ failed: 3 });
    await documented(
      "POST",
      bulkPath,
      400,
      await sendJson(bulkPath, { products: Array(smallLimits.bulkProductsMax + 1).fill(scarf) }),
    );
    await documented("POST", csvPath, 400, await sendJson(csvPath, { csvContent: 'id,colour\n"' }));
  });

  test.each(["GET", "DELETE"])(
    "%s of a product: not found, no such site, and a path that is not UTF-8",
    async (method) => {
      const bad = async (suffix: string) => documented(method, productPath, 400, await onProduct(method, suffix));
      expect(await bad("none")).toEqual(exampleOf(method, productPath, 400, "PRODUCT_NOT_FOUND"));
      expect(await bad("none?siteId=nowhere")).toEqual(exampleOf(method, productPath, 400, "SITE_NOT_FOUND"));
      expect(await bad("%ff")).toEqual(exampleOf(method, productPath, 400, "BAD_REQUEST"));
    },
  );

  test("without a valid token every operation answers 401", async () => {
    for (const { method, path } of operationsOf(document)) {
      const url = `${app.url}${path.replaceAll(/\{\w+\}/gu, "x")}`;
      const missing = await documented(method, path, 401, await fetch(url, { method }));
      expect(missing).toEqual(exampleOf(method, path, 401, "UNAUTHENTICATED"));
      await documented(method, path, 401, await fetch(url, { method, headers: { "X-Service-Access-Token": "wrong" } }));
    }
  });

  test.each(postPaths)("POST %s: a body too large, and one that is not JSON", async (path) => {
    const large = await documented(
      "POST",
      path,
      413,
      await sendJson(path, JSON.stringify("x".repeat(smallLimits.bodyBytesMax))),
    );
    expect(large).toEqual(exampleOf("POST", path, 413, "PAYLOAD_TOO_LARGE"));
    const plain = await documented("POST", path, 415, await store.fetch(path, { method: "POST", body: "id,sku" }));
    expect(plain).toEqual(exampleOf("POST", path, 415, "UNSUPPORTED_MEDIA_TYPE"));
  });

  test("without its database every operation answers 503 with Retry-After", async () => {
    const gone = connect({ connectionString: "postgresql://127.0.0.1:1/none" }, () => undefined);
    const cutOff = await createApp(readConfig({}), gone, pino({ level: "silent" }));
    const server = await listen(cutOff.handler, { ...readConfig({}), port: 0 });
    for (const { method, path } of operationsOf(document)) {
      const url = `${server.url}${path.replaceAll(/\{\w+\}/gu, "x")}`;
      const response = await fetch(url, { method, headers: { "X-Service-Access-Token": "any" } });
      expect(await documented(method, path, 503, response)).toEqual(exampleOf(method, path, 503, "UNAVAILABLE"));
    }
    await server.stop(0);
    await cutOff.close();
    await gone.close();
  });
});
