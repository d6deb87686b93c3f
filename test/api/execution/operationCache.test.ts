import { parse } from "graphql";
import { describe, expect, test } from "vitest";
import { ResponseBudget } from "../../../src/schema/limits/responseBudget.js";
import type { Context, RequestAccess } from "../../../src/schema/context.js";
import type { Observation } from "../../../src/schema/operationNames.js";
import { readAccept } from "../../../src/api/graphql/accepted.js";
import { createFastPath } from "../../../src/api/graphql/fastPath.js";
import { KnownOperations } from "../../../src/api/execution/operationCache.js";
import { schema } from "../../../src/api/graphql/schema.js";

describe("the fast path answers", () => {
  const observation: Pick<Observation, "begins" | "ended" | "refused" | "within"> = {
    begins: () => undefined,
    refused: () => undefined,
    ended: () => undefined,
    within: (_, work) => work(),
  };
  // These operations ask for nothing else.
  const access: Pick<RequestAccess, "confirmSometimes"> = { confirmSometimes: () => undefined };
  const limits = { response: new ResponseBudget() };
  const context = { observation, limits, sent: { isRest: false }, access } as unknown as Context;
  const accepted = readAccept("application/json");
  const known = new KnownOperations(schema);
  const fastPath = createFastPath(known);
  const add = (query: string, name?: string) => known.add(parse(query), name);

  test("an operation that ran before, by its text and name", async () => {
    const query = "query A { __typename } query B { b: __typename }";
    expect(fastPath({ query, operationName: "A" }, accepted, context)).toBeUndefined();
    add(query, "A");
    for (let n = 0; n < 5; n += 1) {
      const answer = await fastPath({ query, operationName: "A" }, accepted, context);
      expect(answer).toMatchObject({ status: 200, body: '{"data":{"__typename":"Query"}}' });
    }
    expect(fastPath({ query, operationName: "B" }, accepted, context)).toBeUndefined();
    expect(fastPath({ query: `${query} ` }, accepted, context)).toBeUndefined();
  });

  test("an invalid operation, by its text", async () => {
    const query = "{ nothing }";
    expect(fastPath({ query }, accepted, context)).toBeUndefined();
    const document = parse(query);
    known.validate(document);
    const answer = await fastPath({ query }, accepted, context);
    expect(answer).toMatchObject({ status: 200, body: expect.stringContaining('Cannot query field \\"nothing\\"') });
    expect(fastPath({ query: `${query} ` }, accepted, context)).toBeUndefined();
  });

  test("an operation that is sent with extensions", () => {
    const query = "{ withExtensions: __typename }";
    add(query);
    expect(fastPath({ query, extensions: { clientLibrary: {} } }, accepted, context)).toBeDefined();
  });

  test("with the compiled operation, even after Yoga executed it again", () => {
    const query = "{ compiled: __typename }";
    const interpreted = known.add(parse(query), undefined);
    expect(known.find(query, undefined)).toBe(interpreted);
    const compiled = known.find(query, undefined);
    expect(compiled).not.toBe(interpreted);
    expect(known.add(parse(query), undefined), "to Yoga").toBe(interpreted);
    expect(known.find(query, undefined)).toBe(compiled);
  });

  test("a text with a NUL differently from a name and a text", () => {
    const query = "query Nul { nul: __typename }";
    add(query, "Nul");
    expect(known.find(query, "Nul")).toBeDefined();
    for (const text of [`Nul\0${query}`, `${query}\0Nul`, `3:Nul${query}`, `["Nul",${JSON.stringify(query)}]`]) {
      expect(known.find(text, undefined)).toBeUndefined();
      expect(fastPath({ query: text }, accepted, context)).toBeUndefined();
    }
  });

  test("no subscriptions", () => {
    const query = `subscription { liveStreamAnalytics(lsId: "x") { id } }`;
    add(query);
    expect(fastPath({ query }, accepted, context)).toBeUndefined();
  });

  test("what is parsed and validated once for all that send it: queries, subscriptions and invalid ones", () => {
    for (const text of [
      "{ once: __typename }",
      `subscription { liveStreamAnalytics(lsId: "once") { id } }`,
      "{ once }",
    ]) {
      const document = known.parse(text);
      const errors = known.validate(document);
      expect(known.parse(text)).toBe(document);
      expect(known.validate(document)).toEqual(errors);
      expect(known.findErrors(text)?.map(({ message }) => message)).toEqual(
        text === "{ once }" ? ['Cannot query field "once" on type "Query".'] : undefined,
      );
    }
  });

  test("from a bounded cache: the least recently used operation is evicted", () => {
    const few = new KnownOperations(schema, { documentsMax: 10 });
    const query = (n: number) => `{ a${n}: __typename }`;
    for (let n = 0; n <= 10; n += 1) few.add(parse(query(n)), undefined);
    expect([few.find(query(0), undefined), few.find(query(10), undefined)]).toEqual([undefined, expect.anything()]);
    const invalid = (n: number) => `{ nothing${n} }`;
    for (let n = 0; n <= 10; n += 1) few.validate(few.parse(invalid(n)));
    expect(few.findErrors(invalid(0)), "invalid ones count too").toBeUndefined();
    expect(few.find(query(10), undefined)).toBeUndefined();
  });

  test.each([
    ["characters", 41, (n: number) => `{ a${n}: product(productId: "${"x".repeat(99_900)}") { id } }`],
    ["tokens", 13, (n: number) => `{ a${n}: product(productId: "x") { ${"id ".repeat(4_900)} } }`],
    [
      "fields in fragments, each time they are spread",
      13,
      (n: number) =>
        `{ a${n}: product(productId: "x") { ${"...F ".repeat(200)} } } fragment F on Product { ${"id ".repeat(45)} }`,
    ],
  ])("is bounded by what it keeps: %s", (_, count, query) => {
    for (let n = 0; n < count; n += 1) add(query(n));
    expect(known.find(query(0), undefined)).toBeUndefined();
    expect(known.find(query(count - 1), undefined)).toBeDefined();
  });
});
