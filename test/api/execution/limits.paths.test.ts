import { describe, expect, test } from "vitest";
import { limits } from "../../../src/api/execution/validation/limits.js";
import { createTestStore, openTestApp } from "../../support/app.js";
import { saved } from "../../support/shows.js";

const app = await openTestApp({ analyticsRateLimit: 0 });
const store = await createTestStore(app);

const many = (length: number, each: (index: number) => string) => Array.from({ length }, (_, i) => each(i)).join(" ");
const inner = limits.depth - 2;

/** An operation just within a limit, and one just above it. */
const operations: [string, within: string, above: string, RegExp][] = [
  [
    "depth",
    `{ __type(name: "Query") { ${"ofType { ".repeat(inner)} name ${"} ".repeat(inner)} } }`,
    `{ __type(name: "Query") { ${"ofType { ".repeat(inner + 1)} name ${"} ".repeat(inner + 1)} } }`,
    /nested at most 20/u,
  ],
  [
    "lists of their own",
    `{ ${many(198, (i) => `a${i}: products(first: 1, search: "?") { __typename }`)} }`,
    `{ ${many(290, (i) => `a${i}: products(first: 1, search: "?") { __typename }`)} }`,
    /cost at most 20000/u,
  ],
  [
    "images",
    `{ products(first: 100) { nodes { ${many(19, (i) => `a${i}: images`)} ${many(8, () => "id")} } } }`,
    `{ products(first: 100) { nodes { ${many(19, (i) => `a${i}: images`)} ${many(9, () => "id")} } } }`,
    /cost at most 20000/u,
  ],
  [
    "lines",
    `${"\n#".repeat(1_500)}${"\r\n".repeat(1_499)}{ __typename }`,
    `${"\n#".repeat(1_500)}${"\r\n".repeat(1_500)}{ __typename }`,
    /at most 3000 lines/u,
  ],
  [
    "lines of a text",
    `{ products(search: """${"\n".repeat(2_999)}""") { nodes { id } } }`,
    `{ products(search: """${"\n".repeat(3_000)}""") { nodes { id } } }`,
    /at most 3000 lines/u,
  ],
  [
    "tokens",
    `{ products(search: "a") { nodes { ${many(190, () => "id")} } } } #${" ".repeat(50_000)}`,
    `{ ${many(5_000, () => "__typename")} }`,
    /5000 tokens/u,
  ],
];

/** The lane by Yoga, and the fast one, which an operation can only take once Yoga has let it pass. */
const asked = ["/graphql?lane=yoga", "/graphql", "/graphql", "/graphql", "/graphql"];

test.each(operations)(
  "%s: at the limit, an operation runs, by Yoga, the fast path and compiled, with the same response; above it, it is refused on both paths, however often",
  async (_, within, above, message) => {
    const answers = [];
    for (const path of asked) answers.push(await store.post(path, { query: within }));
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    expect(answers[0]).toMatchObject({ status: 200, body: { data: expect.any(Object) } });
    expect(answers[0]?.body.errors).toBeUndefined();
    for (const path of asked.slice(0, 3)) {
      const { body: answer } = await store.post(path, { query: above });
      expect(answer).toEqual({ errors: [expect.objectContaining({ message: expect.stringMatching(message) })] });
      expect(answer.errors[0].extensions.code).toBe("BAD_REQUEST");
    }
  },
);

test("an operation above a limit is refused under any name, beside one at the limit, and as an event stream", async () => {
  const [[, , above, message] = expect.fail("There are operations.")] = operations;
  for (const path of asked) {
    for (const body of [
      { query: above, operationName: null, variables: {} },
      { query: `query Good { __typename } query Bad ${above}`, operationName: "Good" },
    ]) {
      const { body: answer } = await store.post(path, body);
      expect(answer).toEqual({ errors: [expect.objectContaining({ message: expect.stringMatching(message) })] });
    }
  }
  const stream = await store.fetch("/graphql", {
    method: "POST",
    headers: { "content-type": "application/json", accept: "text/event-stream" },
    body: JSON.stringify({ query: above }),
  });
  const text = await stream.text();
  expect(text).toMatch(message);
  expect(text).not.toContain('"data":{');
});

describe("lists of operations", () => {
  test.each(["/graphql", "/graphql?lane=yoga"])("are refused as a whole at %s", async (path) => {
    const one = { query: "{ __typename }" };
    await store.post(path, one);
    for (const batch of [[one], [one, one], Array.from({ length: 1_000 }, () => one), []]) {
      const { status, body } = await store.post(path, batch);
      expect(status).toBe(400);
      expect(body).toMatchObject({ errors: [{ extensions: { code: "BAD_REQUEST" } }] });
      expect(JSON.stringify(body)).not.toContain("data");
    }
  });
});

describe("sizes of what is listed are bounded, however they are given:", () => {
  test("products", async () => {
    const text = "products(first: $n) { nodes { id } }";
    for (const n of [101, -1]) {
      for (const [query, variables] of [
        [`{ ${text.replace("$n", String(n))} }`, {}],
        [`query ($n: Int) { ${text} }`, { n }],
        [`query ($n: Int = ${n}) { ${text} }`, {}],
      ] as const) {
        const errors = [{ message: `first must be from 0 to 100, not ${n}.`, path: ["products"] }];
        for (let use = 0; use < 3; use += 1) {
          expect(await store.graphql(query, variables)).toMatchObject({ data: { products: null }, errors });
        }
      }
    }
  });

  test("topProducts and timeline of a show", async () => {
    const { id } = await saved(store);
    const ask = (fields: string) => store.graphql(`{ liveStreamAnalytics(lsId: "${id}") { ${fields} } }`);
    expect(await ask("topProducts(first: 3) { productId } timeline(bucketSeconds: 300) { viewers }")).toMatchObject({
      data: { liveStreamAnalytics: {} },
    });
    for (const fields of [
      "topProducts(first: 1000000) { productId }",
      "topProducts(first: -1) { productId }",
      "timeline(bucketSeconds: 0) { viewers }",
      "timeline(bucketSeconds: -5) { viewers }",
    ]) {
      const { errors } = await ask(fields);
      expect({ fields, code: errors?.[0]?.extensions.code }).toEqual({ fields, code: "VALIDATION_FAILED" });
    }
  });
});
