import { describe, expect, test } from "vitest";
import { createTestStore, openTestApp, startApp } from "../../support/app.js";
import { refusedOperation } from "../../support/problems.js";

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
