import { describe, expect, test } from "vitest";
import { createTestStore, openTestApp, startApp } from "../support/app.js";
import { readAnswer } from "../support/call.js";
import { graphqlError, refusedOperation } from "../support/problems.js";

const app = await openTestApp();
const store = await createTestStore(app);

const many = (length: number, each: (index: number) => string) => Array.from({ length }, (_, i) => each(i)).join(" ");

test("similar names are suggested for an unknown one, but not in production", async () => {
  const production = await startApp({ production: true });
  const caller = await createTestStore(production);
  const operations = [
    "{ produc }",
    `{ product(productIdd: "a", productId: "a") { id } }`,
    "{ liveStreams(status: LIV) { nodes { id } } }",
    "mutation { importProduct(product: { titel: 1 }) { message } }",
    `{ product(productId: "a") { ... on Produkt { id } } }`,
  ];
  for (const text of operations) {
    expect(JSON.stringify(await store.graphql(text))).toContain("Did you mean");
    const answer = await caller.graphql(text);
    expect(answer.errors?.length).toBeGreaterThan(0);
    expect(JSON.stringify(answer)).not.toContain("Did you mean");
  }
  await production.close();
});

describe("an error repeats little of a long operation", () => {
  const long = "x".repeat(90_000);

  test("with a name that is too long, which each of its errors would repeat", async () => {
    const named = (name: string) => `query ${name} { ${many(50, (i) => `a${i}: product(productId: $v${i}) { id }`)} }`;
    const answer = await store.graphql(named(long));
    expect(answer).toEqual(refusedOperation("A name may have at most 255 characters.", 1, 7));
    expect((await store.graphql(named(long.slice(0, 255)))).errors).toHaveLength(50);
    expect((await store.graphql(named(long.slice(0, 256)))).errors).toHaveLength(1);
  });

  test.each([
    ["a name in a place where none may stand", long],
    ["text for a number", `{ products(first: "${long}") { nodes { id } } }`],
    ["a list for text", `{ product(productId: ["${long}"]) { id } }`],
    ["text for a boolean", `{ product(productId: "a") { id @include(if: "${long}") } }`],
  ])("%s", async (_, text) => {
    const answer = await store.graphql(text);
    expect(answer).toMatchObject({ errors: [{ extensions: { code: "BAD_REQUEST" } }] });
    expect(JSON.stringify(answer).length).toBeLessThan(3_000);
  });
});

describe("a request that another site's page can send", () => {
  const query = `mutation { deleteProduct(productId: "a") { message } }`;

  test.each([
    ["text/plain", JSON.stringify({ query })],
    ["application/x-www-form-urlencoded", new URLSearchParams({ query }).toString()],
    ["multipart/form-data; boundary=x", `--x\r\ncontent-disposition: form-data; name="query"\r\n\r\n${query}\r\n--x--`],
    ["application/graphql", query],
  ])("as a form, %s, is refused", async (type, body) => {
    const response = await store.fetch("/graphql", { method: "POST", headers: { "content-type": type }, body });
    const message = "The content-type must be application/json in UTF-8.";
    const { status, body: answer } = await readAnswer(response);
    expect({ status, answer }).toEqual({
      status: 415,
      answer: { errors: [graphqlError("UNSUPPORTED_MEDIA_TYPE", message)] },
    });
  });

  test("by GET executes queries only", async () => {
    const get = (text: string) => store.fetch(`/graphql?query=${encodeURIComponent(text)}`);
    expect((await get("{ __typename }")).status).toBe(200);
    const refused = await get(query);
    expect(refused.status).toBe(405);
    expect(await refused.json()).toMatchObject({ errors: [{ extensions: { code: "METHOD_NOT_ALLOWED" } }] });
  });
});
