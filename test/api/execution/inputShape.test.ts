import fc from "fast-check";
import {
  coerceInputValue,
  type GraphQLInputType,
  Kind,
  type OperationDefinitionNode,
  parse,
  typeFromAST,
} from "graphql";
import { expect, test } from "vitest";
import { Problems } from "../../../src/errors.js";
import { inputShape } from "../../../src/api/execution/input/inputShape.js";
import { schema } from "../../../src/api/graphql/schema.js";

const operation = parse(`
  query (
    $text: String!, $first: Int = 5, $whole: Int! = 1, $flag: Boolean, $price: Float, $images: [String!],
    $product: ProductInput, $products: [ProductInput!]!, $show: LiveStreamInput, $events: [ShopperEventInput!]
  ) { __typename }
`).definitions[0] as OperationDefinitionNode;

const odd = fc.constantFrom(
  null,
  undefined,
  0,
  -1,
  1.5,
  2 ** 31,
  1e308,
  NaN,
  Infinity,
  "",
  "x",
  true,
  {},
  [],
  [null],
  "LIVE",
);
/** A value as wanted, or now and then another. */
const mostly = <Value>(wanted: fc.Arbitrary<Value>) =>
  fc.oneof({ weight: 60, arbitrary: wanted }, { weight: 1, arbitrary: odd });
const time = mostly(fc.constant("2026-05-04T18:30:00Z"));
const text = mostly(fc.string({ maxLength: 3 }));
const number = mostly(fc.double({ noNaN: true, noDefaultInfinity: true }));
const product = mostly(
  fc
    .record(
      {
        id: text,
        sku: text,
        title: text,
        description: text,
        price: number,
        available: mostly(fc.boolean()),
        images: mostly(fc.array(text, { maxLength: 2 })),
        featured_image: text,
        url: text,
      },
      { requiredKeys: ["id", "sku", "title", "available", "featured_image", "url"] },
    )
    .chain((value) =>
      fc.oneof(
        { weight: 30, arbitrary: fc.constant<object>(value) },
        { weight: 1, arbitrary: fc.constantFrom({ ...value, toString: 1 }, { ...value, extra: undefined }) },
      ),
    ),
);
const show = mostly(
  fc.record({ id: text, name: text, status: mostly(fc.constantFrom("LIVE", "ENDED")), startedAt: time }),
);
const event = mostly(
  fc.record({
    id: text,
    type: mostly(fc.constantFrom("VIEW", "ORDER")),
    channel: fc.constant("LIVE"),
    occurredAt: time,
  }),
);
const variables = fc.record(
  {
    text,
    first: mostly(fc.integer()),
    whole: mostly(fc.integer()),
    flag: mostly(fc.boolean()),
    price: number,
    images: mostly(fc.oneof(text, fc.array(text, { maxLength: 3 }))),
    product,
    products: mostly(fc.oneof(product, fc.array(product, { maxLength: 3 }))),
    show,
    events: mostly(fc.array(event, { maxLength: 2 })),
    other: fc.anything(),
  },
  { requiredKeys: ["text", "products"] },
);

/** What GraphQL itself says of the values of variables. */
function isValidByGraphQL(values: Readonly<Record<string, unknown>>): boolean {
  return (operation.variableDefinitions ?? []).every(({ variable, type, defaultValue }) => {
    const name = variable.name.value;
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (value === undefined && defaultValue !== undefined) return true;
    const inputType = typeFromAST(schema, type as never) as GraphQLInputType; // there are no others here
    if (value === undefined) return type.kind !== Kind.NON_NULL_TYPE;
    let isValid = true;
    coerceInputValue(value, inputType, () => {
      isValid = false;
    });
    return isValid;
  });
}

/** Many at a time: most of the time is that of making each list. */
const manyVariables = fc.array(variables, { minLength: 40, maxLength: 40 });

test("variables are valid exactly if GraphQL accepts them, and if no problem is found; so are lists that must be arrays", () => {
  const shape = inputShape(schema, operation);
  const property = fc.property(manyVariables, (all) => {
    for (const values of all) {
      const isValid = isValidByGraphQL(values);
      const [problems, problemsOfArrays] = [new Problems(), new Problems()];
      shape.collect(values, false, problems);
      expect(shape.isValid(values, false)).toBe(isValid);
      expect(problems.total === 0).toBe(isValid);
      shape.collect(values, true, problemsOfArrays);
      expect(shape.isValid(values, true)).toBe(problemsOfArrays.total === 0);
    }
  });
  fc.assert(property);
});

test("both valid and invalid variables are generated", () => {
  const samples = fc.sample(variables, { numRuns: 500, seed: 1 });
  const validPart = samples.filter(isValidByGraphQL).length / samples.length;
  expect(Math.min(validPart, 1 - validPart), `${validPart} are valid`).toBeGreaterThan(0.03);
});

test("of many wrong values the first hundred are listed and all are counted; to know that one is wrong, the others are not read", () => {
  const shape = inputShape(schema, operation);
  let read = 0;
  const images = new Proxy(
    Array.from({ length: 10_000 }, () => 1),
    {
      get(target, name) {
        if (/^\d+$/u.test(String(name))) read += 1;
        return Reflect.get(target, name) as unknown;
      },
    },
  );
  const values = { text: "", products: [], images };
  const problems = new Problems();
  expect(shape.isValid(values, true)).toBe(false);
  expect(read).toBe(1);
  shape.collect(values, true, problems);
  expect([problems.list.length, problems.total]).toEqual([100, 10_000]);
  expect(problems.list[99]).toEqual({
    code: "INVALID_TYPE",
    message: "images[99] must be a string, not 1.",
    path: ["images", 99],
  });
});
