import fc from "fast-check";
import { Kind, type OperationDefinitionNode, parse } from "graphql";
import { expect, test } from "vitest";
import { schema } from "../src/graphql/schema.js";
import { soundVariables } from "../src/graphql/soundness.js";
import { checkVariables } from "../src/graphql/variables.js";

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

test("variables are sound exactly where checkVariables finds nothing wrong", () => {
  expect(operation.kind).toBe(Kind.OPERATION_DEFINITION);
  const isSound = soundVariables(schema, operation);
  const found = { sound: 0, unsound: 0 };
  fc.assert(
    fc.property(variables, fc.boolean(), (values, arraysOnly) => {
      const { total } = checkVariables(schema, operation, values, { arraysOnly });
      expect(isSound(values, arraysOnly)).toBe(total === 0);
      found[total === 0 ? "sound" : "unsound"] += 1;
    }),
    { numRuns: 3_000 },
  );
  expect(Math.min(found.sound, found.unsound), JSON.stringify(found)).toBeGreaterThan(100);
});
