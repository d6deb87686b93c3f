import { isObjectType } from "graphql";
import { beforeAll, describe, expect, test } from "vitest";
import { schema } from "../../../src/api/graphql/schema.js";
import { createTestStore, openTestApp } from "../../support/app.js";
import { saved } from "../../support/shows.js";
import { paths, product } from "../../support/products.js";

const app = await openTestApp({ analyticsRateLimit: 0 });
const store = await createTestStore(app);
beforeAll(async () => {
  await store.post(paths.bulk, { products: ["a", "b", "c"].map((id) => product(id)) });
  for (const id of ["x", "y"]) await saved(store, { id });
});

const range = `from: "2020-01-01T00:00:00Z", until: "2021-01-01T00:00:00Z"`;
const lists = ["products", "liveStreams", `productPerformance(${range})`];
const fields = "{ nodes { __typename } pageInfo { hasPreviousPage } }";

/** A list with more arguments. */
const withArgument = (list: string, argument: string) =>
  list.endsWith(")") ? `${list.slice(0, -1)}, ${argument})` : `${list}(${argument})`;

test("every `first` has its default in the schema", () => {
  const types = Object.values(schema.getTypeMap()).filter(isObjectType);
  const defaults = types.flatMap((type) =>
    Object.values(type.getFields()).flatMap(({ name, args }) =>
      args
        .filter((argument) => argument.name === "first")
        .map((argument) => [`${type.name}.${name}`, String(argument.type), argument.defaultValue]),
    ),
  );
  expect(Object.fromEntries(defaults.map(([field, ...rest]) => [field, rest]))).toEqual({
    "LiveStreamAnalytics.moments": ["Int", 100],
    "LiveStreamAnalytics.topProducts": ["Int", 20],
    "Query.liveStreams": ["Int", 20],
    "Query.orders": ["Int", 20],
    "Query.productPerformance": ["Int", 10],
    "Query.products": ["Int", 20],
    "StoreAnalytics.topShows": ["Int", 10],
    "StoreAnalytics.hosts": ["Int", 10],
  });
});

describe.each(lists)("%s", (list) => {
  test.each(["first: null", `after: ""`, "after: null", `first: null, after: ""`])(
    "with %s is the first page",
    async (argument) => {
      const expected = await store.graphql(`{ list: ${list} ${fields} }`);
      expect(expected.data.list.pageInfo).toEqual({ hasPreviousPage: false });
      expect(await store.graphql(`{ list: ${withArgument(list, argument)} ${fields} }`)).toEqual(expected);
    },
  );

  test.each([-1, 101])("refuses first: %d", async (first) => {
    const { errors } = await store.graphql(`{ list: ${withArgument(list, `first: ${first}`)} ${fields} }`);
    const message = `first must be from 0 to 100, not ${first}.`;
    expect(errors).toMatchObject([{ message, extensions: { errors: [{ path: ["first"] }] } }]);
  });
});

test("an empty cursor is the first page in REST, too", async () => {
  const { status, body } = await store.get("/external/analytics/v1/live-streams?after=&first=1");
  expect([status, body.nodes.length, body.totalCount]).toEqual([200, 1, 2]);
});

describe("products by their ids", () => {
  const byIds = `query ($ids: [ID!], $first: Int, $after: String) {
    products(ids: $ids, first: $first, after: $after) { nodes { id } totalCount pageInfo { hasNextPage endCursor } } }`;
  const read = async (ids: unknown) => {
    const { data, errors } = await store.graphql(byIds, { ids });
    expect(errors).toBeUndefined();
    expect(data.products.totalCount).toBe(data.products.nodes.length);
    return data.products.nodes.map(({ id }: { id: string }) => id);
  };

  test("are those that exist, once each and in the order of the list", async () => {
    expect(await read(["c", "a", "none", "c"])).toEqual(["a", "c"]);
    expect(await read([])).toEqual([]);
    expect(await read(null)).toEqual(["a", "b", "c"]);
    expect(await read("b")).toEqual(["b"]);
  });

  test("are none for what cannot be an id", async () => {
    expect(await read(["", "\0", "\ud800", "x".repeat(70_000), "b"])).toEqual(["b"]);
  });

  test("come in pages", async () => {
    const { data } = await store.graphql(byIds, { ids: ["c", "a"], first: 1 });
    expect(data.products).toMatchObject({ nodes: [{ id: "a" }], totalCount: 2, pageInfo: { hasNextPage: true } });
    const next = await store.graphql(byIds, { ids: ["c", "a"], after: data.products.pageInfo.endCursor });
    expect(next.data.products).toMatchObject({ nodes: [{ id: "c" }], pageInfo: { hasNextPage: false } });
  });

  test("are at most 100", async () => {
    const ids = (count: number) => Array.from({ length: count }, (_, n) => (n === 0 ? "a" : `none-${n}`));
    expect(await read(ids(100))).toEqual(["a"]);
    const message = "ids may have at most 100 items, not 101.";
    const errors = [{ code: "VALIDATION_FAILED", message, path: ["ids"] }];
    const refused = { data: { products: null }, errors: [{ message, extensions: { errors } }] };
    expect(await store.graphql(byIds, { ids: ids(101) })).toMatchObject(refused);
    const literal = `{ products(ids: ${JSON.stringify(ids(101))}) { nodes { id } } }`;
    expect(await store.graphql(literal)).toMatchObject(refused);
  });
});
