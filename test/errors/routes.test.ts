import { describe, expect, test } from "vitest";
import { acceptedCodings } from "../../src/server/content/body.js";
import { createTestStore } from "../support/app.js";
import { readAnswer } from "../support/call.js";
import { exchange } from "../support/http/exchange.js";
import { openDocumentedApp } from "../support/http/openapi.js";
import { graphqlError, problemBody, refusal } from "../support/problems.js";
import { paths, product, storedProducts } from "../support/products.js";
import { saved } from "../support/shows.js";

const { app, document } = await openDocumentedApp();
const store = await createTestStore(app);

const json = { "content-type": "application/json" };
const graphqlBody = JSON.stringify({ query: "{ __typename }" });

describe("METHOD_NOT_ALLOWED", () => {
  const others = ["/", "/openapi.json", "/healthz", "/readyz"].map((path) => [path, "GET, HEAD"]);
  const documented = Object.entries<object>(document["paths"]).map(([path, methods]) => ({
    path: path.replaceAll(/\{\w+\}/gu, "a"),
    pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/gu, "[^/]+")}$`, "u"),
    allowed: Object.keys(methods).flatMap((name) => (name === "get" ? ["GET", "HEAD"] : [name.toUpperCase()])),
  }));
  const ofPaths = documented.map(({ path }) => {
    const allowed = documented.flatMap((other) => (other.pattern.test(path) ? other.allowed : [])); // "bulk" may be an id
    return [path, [...new Set(allowed)].toSorted().join(", ")];
  });

  test.each([...ofPaths, ...others])("%s is 405 with Allow for all but %s", async (path = "", allow = "") => {
    const refused = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"].filter((name) => !allow.includes(name));
    for (const method of refused) {
      const response = await store.fetch(path, { method });
      expect(response.headers.get("allow")).toBe(allow);
      const answer = refusal("METHOD_NOT_ALLOWED", `This path accepts ${allow}.`);
      expect({ method, ...(await readAnswer(response)) }).toEqual({ method, ...answer });
    }
  });

  test("GraphQL takes POST, and GET for queries alone", async () => {
    await store.post(paths.one, { product: product("a") });
    const put = await store.fetch("/graphql", { method: "PUT", headers: json, body: graphqlBody });
    expect(put.headers.get("allow")).toBe("GET, POST");
    expect(await readAnswer(put)).toMatchObject({
      status: 405,
      body: { errors: [graphqlError("METHOD_NOT_ALLOWED", "GraphQL only supports GET and POST requests.")] },
    });
    const mutation = encodeURIComponent(`mutation { deleteProduct(productId: "a") { message } }`);
    const get = await store.fetch(`/graphql?query=${mutation}`);
    expect(get.headers.get("allow")).toBe("POST");
    expect(await readAnswer(get)).toMatchObject({
      status: 405,
      body: {
        errors: [graphqlError("METHOD_NOT_ALLOWED", "Can only perform a mutation operation from a POST request.")],
      },
    });
    expect(await storedProducts(app, store)).toHaveLength(1);
    expect(await readAnswer(await store.fetch("/graphql?query={__typename}"))).toMatchObject({
      status: 200,
      body: { data: { __typename: "Query" } },
    });
  });
});

describe("NOT_ACCEPTABLE", () => {
  const message =
    "Operations are answered as application/json or application/graphql-response+json, subscriptions as text/event-stream or multipart/mixed;subscriptionSpec=1.0.";
  const answer = {
    status: 406,
    type: "application/json; charset=utf-8",
    body: { errors: [graphqlError("NOT_ACCEPTABLE", message)] },
  };
  const sent = (query: string, accept: string) => ({
    method: "POST",
    headers: { ...json, accept },
    body: JSON.stringify({ query }),
  });

  test("is what GraphQL answers to Accept: image/png, and a mutation is not run", async () => {
    const query = `mutation { deleteProduct(productId: "a") { message } }`;
    expect(await readAnswer(await store.fetch("/graphql", sent(query, "image/png")))).toEqual(answer);
    expect(await storedProducts(app, store)).toHaveLength(1);
  });

  test("is what GraphQL answers to a subscription that is wanted as one answer", async () => {
    await saved(store, { id: "show" });
    const query = `subscription { liveStreamAnalytics(lsId: "show") { id } }`;
    expect(await readAnswer(await store.fetch("/graphql", sent(query, "application/json")))).toEqual(answer);
  });
});

describe("NOT_FOUND", () => {
  const nowhere = [
    "/external",
    "/external/",
    "/external/product",
    "/external/product/v1//",
    "/external/product/v2",
    "/external/product/v1/a/b",
    "/external/product/v1/bulk//",
    "/external/product/v1/bulk/csv/x",
    "/external//product/v1",
    "/External/product/v1/a",
    "/external/products",
    "/external/product",
    "/external/delete-product/a",
    "/external/import-product",
    "/external/webhook",
    "/external/product/v1/webhook/x",
    "/external/openapi.json",
    "/external/graphql",
    "/externalproduct/v1/a",
    "/webhook",
    "/product/v1/a",
    "/graphql/x",
    "/metrics/x",
    "/__proto__",
    "/constructor",
    "/%2e%2e/external/product/v1/a",
    "//",
    "/.env",
  ];

  test("is 404 at paths that are not documented, whatever the method", async () => {
    const methods = ["GET", "POST", "PUT", "DELETE", "OPTIONS"];
    for (const [index, path] of nowhere.entries()) {
      const method = methods[index % methods.length] ?? "";
      const { status, body } = await exchange(app.url, path, {
        method,
        headers: { "X-Service-Access-Token": store.token },
      });
      const hint = path.startsWith("/external/product/v1/") ? " A slash within an id is written %2F." : "";
      const expected = { status: 404, body: problemBody("NOT_FOUND", `No resource exists at this path.${hint}`) };
      expect({ method, path, status, body }).toEqual({ method, path, ...expected });
    }
  });
});

describe("UNSUPPORTED_MEDIA_TYPE", () => {
  const wrongType = "The content-type must be application/json in UTF-8.";
  const taken: Readonly<Record<string, string>> = {
    [paths.bulk]: "The content-type must be application/json, application/x-ndjson or application/ndjson in UTF-8.",
    [paths.csv]:
      "The content-type must be application/json or text/csv in UTF-8; the parameter encoding= names another encoding of a file, not its charset.",
  };
  test.each([
    [{}, wrongType],
    [{ "content-type": "text/plain" }, wrongType],
    [{ "content-type": "application/x-www-form-urlencoded" }, wrongType],
    [{ "content-type": "multipart/form-data; boundary=x" }, wrongType],
    [{ "content-type": "application/jsonp" }, wrongType],
    [{ "content-type": "application/graphql" }, wrongType],
    [{ "content-type": "text/json" }, wrongType],
    [{ "content-type": "application/json, text/plain" }, wrongType],
    [{ "content-type": "application/json; charset=utf-16" }, wrongType],
    [{ ...json, "content-encoding": "compress" }, `The content-encoding must be one of ${acceptedCodings}.`],
  ])("is 415 for %j", async (headers, detail) => {
    const options = {
      method: "POST",
      headers: { ...headers, "X-Service-Access-Token": store.token },
      body: [graphqlBody],
    };
    for (const path of [paths.one, paths.bulk, paths.csv]) {
      expect(await exchange(app.url, path, options)).toMatchObject({
        status: 415,
        body: problemBody("UNSUPPORTED_MEDIA_TYPE", detail === wrongType ? (taken[path] ?? detail) : detail),
      });
    }
    expect(await exchange(app.url, "/graphql", options)).toMatchObject({
      status: 415,
      body: { errors: [graphqlError("UNSUPPORTED_MEDIA_TYPE", detail)] },
    });
  });

  test.each([
    "application/json",
    "Application/JSON; Charset=UTF-8",
    'application/json ; charset="utf8"',
    'application/json; profile="a;charset=latin1"',
    "application/json;",
  ])("is not returned for %s", async (type) => {
    const headers = { "content-type": type };
    for (const [path, body] of Object.entries({ [paths.bulk]: '{"products":[]}', "/graphql": graphqlBody })) {
      expect([path, (await store.fetch(path, { method: "POST", headers, body })).status]).toEqual([path, 200]);
    }
  });
});
