import { describe, expect, test } from "vitest";
import { parseBounded } from "../../../src/api/execution/validation/parse.js";
import { limits } from "../../../src/api/execution/validation/limits.js";
import { schema } from "../../../src/api/graphql/schema.js";
import { createTestStore, openTestApp } from "../../support/app.js";
import { graphqlError } from "../../support/problems.js";
import { product, storedProducts } from "../../support/products.js";

const app = await openTestApp({ analyticsRateLimit: 0 });
const store = await createTestStore(app);

/** By Yoga, by the fast path while it is not known, and once it is. */
const asked = ["/graphql?lane=yoga", "/graphql", "/graphql", "/graphql", "/graphql"];

describe("the text of an operation", () => {
  const padded = (characters: number) => `{ __typename } #${"é".repeat(characters - 16)}`;
  const tooLong = graphqlError("BAD_REQUEST", "The text of an operation may have at most 100000 characters.");

  test("may have 100,000 characters, and not one more, on either path", async () => {
    for (const path of asked) {
      expect(await store.post(path, { query: padded(limits.textCharacters) })).toMatchObject({
        status: 200,
        body: { data: { __typename: "Query" } },
      });
      const { status, body } = await store.post(path, { query: padded(limits.textCharacters + 1) });
      expect({ status, body }).toEqual({ status: 400, body: { errors: [tooLong] } });
    }
  });

  test("may not be longer as a stream of events, nor beside the name of a persisted operation", async () => {
    const query = padded(limits.textCharacters + 1);
    const stream = await store.fetch("/graphql", {
      method: "POST",
      headers: { "content-type": "application/json", accept: "text/event-stream" },
      body: JSON.stringify({ query, documentId: "x" }),
    });
    expect(stream.status).toBe(400);
    expect(await stream.json()).toEqual({ errors: [tooLong] });
  });

  test("is also limited by the parser, for documents that are not from a request", () => {
    expect(() => parseBounded(padded(limits.textCharacters + 1))).toThrow(tooLong.message);
  });
});

describe("a cursor", () => {
  const query = "query ($after: String) { products(after: $after) { nodes { id } } }";
  const shows = "query ($after: String) { liveStreams(after: $after) { nodes { id } } }";
  const after = (id: string) => Buffer.from(JSON.stringify([id])).toString("base64url");

  test("of the longest possible id is accepted, and a longer text is refused with the limit", async () => {
    for (const path of asked) {
      const longest = after("\u{1}".repeat(255));
      expect(await store.post(path, { query, variables: { after: longest } })).toMatchObject({
        body: { data: { products: { nodes: [] } } },
      });
      for (const [text, field] of [
        [query, "products"],
        [shows, "liveStreams"],
      ] as const) {
        const { body } = await store.post(path, { query: text, variables: { after: "x".repeat(4_001) } });
        expect(body).toMatchObject({
          data: { [field]: null },
          errors: [
            { message: "after must have at most 4000 characters.", extensions: { errors: [{ path: ["after"] }] } },
          ],
        });
      }
    }
  });
});

describe("imports", () => {
  const importAs = (i: number) => `a${i}: importProduct(product: $p${i}) { created }`;
  const operation = (count: number) => ({
    query: `mutation (${Array.from({ length: count }, (_, i) => `$p${i}: ProductInput!`).join(" ")}) {
      ${Array.from({ length: count }, (_, i) => importAs(i)).join(" ")} }`,
    variables: Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, product(`p${i}`)])),
  });

  test("are the fields of Mutation whose names begin with import or patch", () => {
    const names = Object.keys(schema.getMutationType()?.getFields() ?? {});
    expect(names.filter((name) => /^(?:import|patch)/u.test(name))).toEqual([
      "importProduct",
      "importProducts",
      "importProductsCsv",
      "patchProducts",
    ]);
  });

  test("may be five in one operation; with a sixth nothing is stored", async () => {
    const own = await createTestStore(app);
    const { body } = await own.post("/graphql", operation(6));
    expect(body).toMatchObject({
      errors: [graphqlError("BAD_REQUEST", "An operation may have at most 5 imports.")],
    });
    expect(await storedProducts(app, own)).toEqual([]);
    expect((await own.post("/graphql", operation(5))).body.errors).toBeUndefined();
    expect(await storedProducts(app, own)).toHaveLength(5);
  });
});
