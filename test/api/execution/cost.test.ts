import {
  getNamedType,
  getNullableType,
  GraphQLInt,
  GraphQLList,
  GraphQLObjectType,
  GraphQLSchema,
  isListType,
  isObjectType,
  parse,
  validate,
} from "graphql";
import { describe, expect, test } from "vitest";
import * as dashboardOfShows from "../../../src/dashboard/queries/show.js";
import * as dashboardOfStore from "../../../src/dashboard/queries/store.js";
import { rulesFirst } from "../../../src/api/execution/validation/limits.js";
import { schema } from "../../../src/api/graphql/schema.js";
import { isPaged } from "../../../src/schema/limits/cost.js";
import { examples } from "../../../src/server/pages/graphiql/graphiql.examples.js";
import { fullIntrospection } from "../../support/http/introspection.js";

const many = (length: number, each: (index: number) => string) => Array.from({ length }, (_, i) => each(i)).join(" ");
const tooCostly = ["An operation may cost at most 20000: each field counts 1 for each item of the pages it is in."];

function problemsOf(text: string, within = schema): string[] {
  return validate(within, parse(text), rulesFirst).map(({ message }) => message);
}

describe("a list without pages costs its declared maximum length:", () => {
  const failures = (problems: number, others: number) =>
    `mutation { importProduct(product: {}) { failures { problems { ${many(problems, () => "code")} } ${many(others, () => "id")} } } }`;

  test("failed products of an import, each with its problems", () => {
    expect(problemsOf(failures(19, 8))).toEqual([]); // 1 + 1 + 100 × (1 + 10 × 19 + 8) = 19,902
    expect(problemsOf(failures(19, 9))).toEqual(tooCostly);
  });

  const Item = new GraphQLObjectType({ name: "Item", fields: { n: { type: GraphQLInt } } });
  const query = new GraphQLObjectType({
    name: "Query",
    fields: {
      list: { type: new GraphQLList(Item), extensions: { itemsExpected: 1_500 } },
      figure: { type: GraphQLInt, extensions: { cost: 100 } },
      both: { type: new GraphQLList(Item), extensions: { itemsExpected: 10, cost: 100 } },
    },
  });
  const marked = new GraphQLSchema({ query });

  test.each([
    ["13 lists of 1,500", 13, "list { n }"],
    ["200 figures that are a query each", 200, "figure"],
    ["181 lists that are, too", 181, "both { n }"],
  ])("%s are the most that an operation may request", (_, count, field) => {
    const text = (length: number) => `{ ${many(length, (i) => `a${i}: ${field}`)} }`;
    expect(problemsOf(text(count), marked)).toEqual([]);
    expect(problemsOf(text(count + 1), marked)).toEqual(tooCostly);
  });
});

test.each(["timeline { viewers }", "topProducts(first: 1) { carts }", "peakConcurrentViewers"])(
  "one operation cannot read the %s of a show 300 times",
  (field) => {
    const text = (count: number) => `{ liveStreamAnalytics(lsId: "a") { ${many(count, (i) => `a${i}: ${field}`)} } }`;
    expect(problemsOf(text(10))).toEqual([]);
    expect(problemsOf(text(300))).toEqual(tooCostly);
  },
);

describe("moments of a show, of which an operation may ask for more than of other lists:", () => {
  const moment = `id kind startedAt endedAt productId product { id title price } host { name email } title figures {
    seconds sales netSales orders quantity addToCart viewersAtStart peakViewers averageViewers newViewers isExact
    ofProduct { sales orders quantity addToCart carts ordersWithin } }`;
  const text = (first: number | string) => `query ($first: Int) {
    liveStreamAnalytics(lsId: "a") { moments(first: ${first}) { ${moment} } } }`;

  test("300 with all their figures may be requested, and not 2,000", () => {
    expect(problemsOf(text(300))).toEqual([]);
    expect(problemsOf(text(2_000))).toEqual(tooCostly);
  });

  test("2,000 with few fields may be requested, and of a variable as many as are usual count", () => {
    expect(problemsOf(`{ liveStreamAnalytics(lsId: "a") { moments(first: 2000) { id startedAt title } } }`)).toEqual(
      [],
    );
    expect(problemsOf(text("$first"))).toEqual([]);
  });

  test("intervals of one show may be requested 150 times, and not 300 times", () => {
    const between = `between(from: "2026-01-01T00:00:00Z", until: "2026-01-02T00:00:00Z") { sales }`;
    const intervals = (count: number) =>
      `{ liveStreamAnalytics(lsId: "a") { ${many(count, (i) => `a${i}: ${between}`)} } }`;
    expect(problemsOf(intervals(150))).toEqual([]);
    expect(problemsOf(intervals(300))).toEqual(tooCostly);
  });
});

test("every list of objects has pages or declares how many items are expected", () => {
  const types = Object.values(schema.getTypeMap()).filter((type) => isObjectType(type));
  const fields = types
    .filter(({ name }) => !name.startsWith("__"))
    .flatMap((type) => Object.values(type.getFields()).map((field) => ({ name: `${type.name}.${field.name}`, field })));
  const unbounded = fields.filter(({ name, field }) => {
    const isListOfObjects = isListType(getNullableType(field.type)) && isObjectType(getNamedType(field.type));
    const isOfPage = /Connection\.(?:nodes|edges)$/u.test(name); // counted by the `first` of its connection
    return isListOfObjects && !isOfPage && !isPaged(field) && field.extensions.itemsExpected === undefined;
  });
  expect(unbounded.map(({ name }) => name)).toEqual([]);
});

describe("introspection", () => {
  const [, selection = "", fragments = ""] =
    /^\s*query IntrospectionQuery \{([^]*?)\n {4}\}([^]*)$/u.exec(fullIntrospection) ?? [];

  test("in full may be requested once, also with the name of each type, but not twice", () => {
    expect(problemsOf(fullIntrospection)).toEqual([]);
    expect(problemsOf(fullIntrospection.replaceAll(/(\bkind\b)/gu, "$1 __typename"))).toEqual([]);
    expect(problemsOf(`{ a0: ${selection} } ${fragments}`)).toEqual([]);
    expect(problemsOf(`{ ${many(2, (i) => `a${i}: ${selection}`)} } ${fragments}`)).toEqual(tooCostly);
  });

  test.each([
    ["arguments", 30, "types { fields { args { type { kind name ofType { kind name } } } } }"],
    ["values", 80, "types { inputFields { name type { name } } enumValues { name description } }"],
  ])("of all %s by %d aliases is too costly", (_, aliases, fields) => {
    expect(problemsOf(`{ ${many(aliases, (i) => `a${i}: __schema { ${fields} }`)} }`)).toEqual(tooCostly);
  });
});

test("the operations of the dashboard and the examples of GraphiQL are within the limits", () => {
  const texts: unknown[] = [
    ...Object.values({ ...dashboardOfShows, ...dashboardOfStore }),
    ...examples.map(({ query }) => query),
  ];
  for (const text of texts) expect(problemsOf(String(text))).toEqual([]);
});
