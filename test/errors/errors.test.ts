import { describe, expect, test } from "vitest";
import { addSite } from "../../src/stores/site.js";
import { revokeToken } from "../../src/stores/token.replace.js";
import { issueToken } from "../../src/stores/token.js";
import { ago } from "../support/clock.js";
import { createTestStore, openTestApp } from "../support/app.js";
import { readAnswer } from "../support/call.js";
import { exchange } from "../support/http/exchange.js";
import { graphqlError, invalid, problemBody, refusal } from "../support/problems.js";
import { importOne, paths, product } from "../support/products.js";

const app = await openTestApp({ bodyBytesMax: 100_000 });

const json = { "content-type": "application/json" };

describe("BAD_REQUEST, VALIDATION_FAILED, SITE_NOT_FOUND and PRODUCT_NOT_FOUND", () => {
  const started = (field: string) => ({
    path: [field],
    locations: [{ line: expect.any(Number), column: expect.any(Number) }],
  });

  test("are 400 over REST, and errors of a GraphQL answer with status 200", async () => {
    const store = await createTestStore(app);
    await addSite(app.db, store.id, "web", "shop");

    const bad = 'The body must be a JSON object, such as {"product": {…}}, not an array.';
    expect(await store.post(paths.one, [])).toEqual(refusal("BAD_REQUEST", bad));
    expect(await store.graphql("{ product }")).toEqual({
      errors: [
        {
          ...graphqlError(
            "BAD_REQUEST",
            `Field "product" of type "Product" must have a selection of subfields. Did you mean "product { ... }"?`,
          ),
          locations: [{ line: 1, column: 3 }],
        },
        {
          ...graphqlError(
            "BAD_REQUEST",
            `Field "product" argument "productId" of type "String!" is required, but it was not provided.`,
          ),
          locations: [{ line: 1, column: 3 }],
        },
      ],
    });

    const blank = { code: "REQUIRED", message: "title must not be blank.", path: ["product", "title"] };
    expect(await store.post(paths.one, { product: product("a", { title: " " }) })).toEqual(invalid(blank));
    expect(await store.graphql(importOne, { product: product("a", { title: " " }) })).toEqual({
      data: { importProduct: null },
      errors: [{ ...graphqlError("VALIDATION_FAILED", blank.message, [blank]), ...started("importProduct") }],
    });

    const noSite = {
      code: "SITE_NOT_FOUND",
      message: "The store has no site with this siteId. An operator adds it with `npx vitrine site add`.",
      path: ["siteId"],
    };
    expect(await store.get(`${paths.of("a")}?siteId=x`)).toEqual(refusal(noSite.code, noSite.message, [noSite]));
    expect(await store.graphql(`{ product(productId: "a", siteId: "x") { id } }`)).toEqual({
      data: { product: null },
      errors: [{ ...graphqlError(noSite.code, noSite.message, [noSite]), ...started("product") }],
    });

    const noProduct = {
      code: "PRODUCT_NOT_FOUND",
      message: "The store has no product with this reference id or SKU.",
      path: ["productId"],
    };
    expect(await store.delete(paths.of("a"))).toEqual(refusal(noProduct.code, noProduct.message, [noProduct]));
    expect(await store.graphql(`mutation { deleteProduct(productId: "a") { message } }`)).toEqual({
      data: { deleteProduct: null },
      errors: [{ ...graphqlError(noProduct.code, noProduct.message, [noProduct]), ...started("deleteProduct") }],
    });
  });
});

describe("UNAUTHENTICATED", () => {
  test("is 401 for a token that does not work, and says what is missing", async () => {
    const store = await createTestStore(app);
    const expired = await issueToken(app.db, store.id, { expiresAt: ago(1) });
    const revoked = await issueToken(app.db, store.id);
    await revokeToken(app.db, store.id, revoked.id);
    const { token: own } = store;
    const changed = [`${own}x`, own.slice(0, -1), own.toUpperCase(), `${own}, ${own}`];
    for (const token of [undefined, "", "nope", ...changed, expired.token, revoked.token]) {
      const headers = token === undefined ? {} : { "X-Service-Access-Token": token };
      const detail = token ? "The access token is not valid." : "The header X-Service-Access-Token is missing.";
      for (const method of ["GET", "HEAD"]) {
        const answer = await exchange(app.url, paths.of("a"), { method, headers });
        expect(answer, `${method} ${token}`).toMatchObject({
          status: 401,
          body: method === "HEAD" ? undefined : problemBody("UNAUTHENTICATED", detail),
          headers: {
            "content-type": "application/problem+json",
            "www-authenticate": 'ApiKey header="X-Service-Access-Token"',
          },
        });
      }
    }
  });

  test("is 401 on every GraphQL operation, introspection too; the page is open", async () => {
    const detail = "The header X-Service-Access-Token is missing.";
    for (const query of ["{ __typename }", "{ __schema { queryType { name } } }", "{"]) {
      const response = await fetch(`${app.url}/graphql`, {
        method: "POST",
        headers: json,
        body: JSON.stringify({ query }),
      });
      expect(await readAnswer(response)).toEqual({
        status: 401,
        type: "application/json; charset=utf-8",
        body: { errors: [graphqlError("UNAUTHENTICATED", detail)] },
      });
    }
    expect((await fetch(`${app.url}/graphql?query={__typename}`)).status).toBe(401);
    expect((await fetch(`${app.url}/graphql`, { headers: { accept: "text/html" } })).status).toBe(200);
  });

  test("comes before the body is read or even looked at", async () => {
    for (const [path, headers] of [
      [paths.bulk, { ...json, "content-length": "90000" }],
      [paths.bulk, { "content-type": "text/plain", "transfer-encoding": "chunked" }],
      [paths.bulk, { ...json, "content-length": "900000000" }],
      ["/graphql", { ...json, "content-length": "90000" }],
    ] as const) {
      const { status } = await exchange(app.url, path, { method: "POST", headers, unfinished: true });
      expect(status).toBe(401);
    }
  });
});
