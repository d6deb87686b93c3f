import { describe, expect, test } from "vitest";
import { asksOf, type Names, operations } from "../support/access/calls.js";
import { createTestStore, openTestApp } from "../support/app.js";
import { readAnswer } from "../support/call.js";
import { refusal } from "../support/problems.js";

const app = await openTestApp();

const missing = refusal("UNAUTHENTICATED", "The header X-Service-Access-Token is missing.");
const invalid = refusal("UNAUTHENTICATED", "The access token is not valid.");

/** The same, as GraphQL answers it. */
function inGraphql({ status, body: { detail: message, code, errors, errorsTotal } }: typeof missing) {
  const body = { errors: [{ message, extensions: { code, errors, errorsTotal } }] };
  return { status, type: "application/json; charset=utf-8", body };
}

async function call(
  headers: [string, string][] | Record<string, string>,
  path = "/external/product/v1/none",
  options: RequestInit = {},
) {
  return readAnswer(await fetch(`${app.url}${path}`, { ...options, headers }));
}

const names: Names = { by: { siteType: ["SHOP"] }, every: ["shirt"] };

describe("every operation needs the token", () => {
  test.each(operations.map((operation) => [operation.name, operation] as const))(
    "%s answers 401 without a token and with a wrong one",
    async (_, operation) => {
      const [given = {}] = asksOf(operation, names);
      for (const { path, ...sent } of operation.calls(given)) {
        const isGraphql = path === "/graphql";
        for (const [own, expected] of [
          [{}, missing],
          [{ "x-service-access-token": `vt_${"A".repeat(43)}` }, invalid],
        ] as const) {
          const answer = await call({ ...sent.headers, ...own }, path, sent);
          expect(answer).toEqual(isGraphql ? inGraphql(expected) : expected);
        }
      }
    },
  );

  test("a 401 names the header to send", async () => {
    const { headers } = await fetch(`${app.url}/external/product/v1/none`);
    expect(headers.get("www-authenticate")).toBe('ApiKey header="X-Service-Access-Token"');
  });

  test("the token is checked before the body: a body of the wrong type is 401 without one", async () => {
    expect(await call({ "content-type": "text/plain" }, "/external/product/v1", { method: "POST", body: "{" })).toEqual(
      missing,
    );
  });
});

describe("whatever is sent to GraphQL needs the token:", () => {
  test.each([
    '{ product(productId: "shirt") { id } }',
    "{ __typename }",
    "{ __schema { queryType { name } } }",
    'query Introspection { __type(name: "Product") { fields { name } } }',
    "subscription { anything }",
    "not even { GraphQL",
  ])("%s", async (query) => {
    const post = { method: "POST", body: JSON.stringify({ query }) };
    for (const [header, expected] of [
      [{}, missing],
      [{ "x-service-access-token": "vt_wrong" }, invalid],
    ] as const) {
      expect(await call({ "content-type": "application/json", ...header }, "/graphql", post)).toEqual(
        inGraphql(expected),
      );
      expect((await call(header, `/graphql?query=${encodeURIComponent(query)}`)).status).toBe(401);
    }
  });
});

describe("the header", () => {
  test("has a case-insensitive name and an exact value", async () => {
    const { token } = await createTestStore(app);
    expect((await call({ "X-SERVICE-Access-Token": token })).status).toBe(400);
    for (const wrong of [
      `Bearer ${token}`,
      `"${token}"`,
      token.toUpperCase(),
      `${token}x`,
      token.slice(0, -1),
      token.slice(3),
    ]) {
      expect(await call({ "x-service-access-token": wrong }), wrong).toEqual(invalid);
    }
  });

  test("is the only way to send a token", async () => {
    const { token } = await createTestStore(app);
    expect(await call({ authorization: `Bearer ${token}`, cookie: `X-Service-Access-Token=${token}` })).toEqual(
      missing,
    );
    const path = `/external/product/v1/none?X-Service-Access-Token=${token}&accessToken=${token}`;
    expect(await call({}, path)).toEqual(missing);
  });

  test("sent twice is refused, even with the same value", async () => {
    const { token } = await createTestStore(app);
    const other = await createTestStore(app);
    for (const second of [token, other.token]) {
      const doubled: [string, string][] = [
        ["x-service-access-token", token],
        ["x-service-access-token", second],
      ];
      expect(await call(doubled)).toEqual(invalid);
    }
  });

  test("empty or very long is a 401", async () => {
    expect(await call({ "x-service-access-token": "" })).toEqual(missing);
    expect(await call({ "x-service-access-token": "x".repeat(10_000) })).toEqual(invalid);
  });
});
