import { buildSchema, type GraphQLScalarType, type GraphQLSchema } from "graphql";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createIdentify } from "../../../src/stores/token.js";
import { TokenEnds } from "../../../src/stores/validity/validity.js";
import { createLocalCounter } from "../../../src/stores/rateLimits/rateLimit.memory.js";
import { createLiveFeed } from "../../../src/figures/feed/feed.js";
import { readConfig } from "../../../src/config.js";
import { createBodyBudget } from "../../../src/server/content/body.js";
import { createRestRoute } from "../../../src/server/http/routes/rest.route.js";
import { listen, type RunningServer } from "../../../src/server/server.js";
import { targetOf } from "../../../src/server/http/exchange.js";
import { createRestHandler } from "../../../src/api/rest/handler.js";
import { describeApi } from "../../../src/api/openapi/document.js";
import { planRest, type RestOperation } from "../../../src/api/rest/routes/derivation.js";
import type { RestRoute } from "../../../src/api/rest/routes/route.js";
import { createTelemetry } from "../../../src/server/telemetry/telemetry.js";
import { createTestStore, storeAt, testDatabase, type TestStore } from "../../support/app.js";

function schemaOf(fields: string): GraphQLSchema {
  const schema = buildSchema(`
    scalar DateTime
    enum Size { SMALL LARGE }
    input Filter { name: String }
    type Query { ${fields} }
    type Mutation { remove(count: Int!, force: Boolean): String }
  `);
  const day = schema.getType("DateTime") as GraphQLScalarType;
  day.extensions = { isValid: (value: unknown) => /^\d{4}-\d{2}-\d{2}$/u.test(String(value)), valueName: "a day" };
  for (const type of [schema.getQueryType(), schema.getMutationType()]) {
    for (const field of Object.values(type?.getFields() ?? {})) {
      field.resolve = (_, args) => JSON.stringify(args);
      field.extensions = { scope: "anyToken" };
    }
  }
  return schema;
}

const schema = schemaOf(`read(
  count: Int! ratio: Float open: Boolean = true size: Size id: ID text: String day: DateTime
  counts: [Int!] sizes: [Size!] texts: [String!]
): String`);

const common = {
  summary: "A route of the test",
  tag: "Products",
  errors: ["VALIDATION_FAILED"],
  example: { answer: undefined },
  inContract: true, // ignores what it does not know
} as const;
const routes: readonly RestRoute[] = [
  { ...common, root: "Query", operation: "read", operationId: "read", method: "GET", path: "/things/:count" },
  { ...common, root: "Mutation", operation: "remove", operationId: "remove", method: "DELETE", path: "/things/:count" },
];

let operations: readonly RestOperation[];
let server: RunningServer;
let store: TestStore;
const database = testDatabase();
beforeAll(async () => {
  operations = await planRest(schema, routes);
  const log = pino({ enabled: false });
  const config = readConfig({});
  const bodies = createBodyBudget(config.bodyBytesMax);
  const feed = createLiveFeed({ read: () => Promise.reject(new Error("not used")) });
  const telemetry = createTelemetry({
    log,
    sources: { feed, database, bodies, places: {}, dataDir: undefined },
    tracing: undefined,
    share: undefined,
  });
  const route = createRestRoute({
    config,
    db: database.client,
    log,
    identify: createIdentify(database.client),
    tokenEnds: new TokenEnds(),
    rateLimits: { policies: {}, count: createLocalCounter() },
    feed,
    rest: createRestHandler(schema, operations),
    bodies,
  });
  server = await listen(
    (request, response) => {
      const observation = telemetry.observe(request, response, "test");
      void route({ request, response, requestId: "test", observation, ...targetOf(request) });
    },
    { ...config, host: "127.0.0.1", port: 0 },
  );
  store = storeAt(server.url, await createTestStore({ url: server.url, db: database.client }));
});
afterAll(async () => {
  await server.stop(0);
  await database.close();
});

const get = async (search: string, count = "1") => store.get(`/external/things/${count}${search}`);

/** The arguments that the resolver got. */
async function argumentsOf(search: string, count?: string): Promise<unknown> {
  const { status, body } = await get(search, count);
  expect({ status, body }).toMatchObject({ status: 200 });
  return JSON.parse(body);
}

test.each([
  ["", { count: 1, open: true }],
  ["?ratio=-1.5e2&open=false", { count: 1, ratio: -150, open: false }],
  ["?ratio=3", { count: 1, open: true, ratio: 3 }],
  ["?size=LARGE&id=007&text=12&day=2026-05-04", { size: "LARGE", id: "007", text: "12", day: "2026-05-04" }],
  ["?text=", { text: "" }],
  ["?counts=1&counts=-2&sizes=SMALL&texts=true&texts=1", { counts: [1, -2], sizes: ["SMALL"], texts: ["true", "1"] }],
  ["?unknown=1&count=7", { count: 1 }],
])("the arguments of %s have the types of the schema", async (search, expected) => {
  expect(await argumentsOf(search)).toMatchObject(expected);
});

test.each(["0", "2147483647", "-2147483648", "%32"])("an Int in the path may be %s", async (text) => {
  expect(await argumentsOf("", text)).toMatchObject({ count: Number(decodeURIComponent(text)) });
});

test("a route with the method DELETE gets them too", async () => {
  expect(await store.delete("/external/things/3?force=true")).toMatchObject({
    status: 200,
    body: JSON.stringify({ count: 3, force: true }),
  });
});

describe("a value of a wrong type is refused with its name and the value:", () => {
  const long = "9".repeat(100);
  test.each([
    ["", "1.5", "count", 'count must be a 32-bit integer, not "1.5".'],
    ["", "2147483648", "count", 'count must be a 32-bit integer, not "2147483648".'],
    ["", "0x10", "count", 'count must be a 32-bit integer, not "0x10".'],
    ["", "%20", "count", 'count must be a 32-bit integer, not " ".'],
    ["", long, "count", `count must be a 32-bit integer, not "${"9".repeat(60)}…".`],
    ["?ratio=NaN", "1", "ratio", 'ratio must be a number, not "NaN".'],
    ["?ratio=1e999", "1", "ratio", 'ratio must be a number, not "1e999".'],
    ["?ratio=", "1", "ratio", 'ratio must be a number, not "".'],
    ["?open=TRUE", "1", "open", 'open must be true or false, not "TRUE".'],
    ["?open=1", "1", "open", 'open must be true or false, not "1".'],
    ["?size=small", "1", "size", 'size must be one of SMALL, LARGE, not "small".'],
    ["?counts=1&counts=x", "1", "counts", 'counts must be a 32-bit integer, not "x".'],
    ["?day=today", "1", "day", 'day must be a day, not "today".'],
  ])("%s of %s", async (search, count, name, message) => {
    expect(await get(search, count)).toMatchObject({
      status: 400,
      body: { code: "VALIDATION_FAILED", detail: message, errors: [{ code: "INVALID_TYPE", message, path: [name] }] },
    });
  });

  test.each(["?text=a&text=b", "?text=a&text=a", "?counts=1&text=&counts=2&text="])(
    "%s, whose text is no list",
    async (search) => {
      const [message, path] = ["text is given 2 times, not once.", ["text"]];
      expect(await get(search)).toMatchObject({
        status: 400,
        body: { code: "VALIDATION_FAILED", detail: message, errors: [{ code: "INVALID_VALUE", message, path }] },
      });
    },
  );

  test("all of them in one answer", async () => {
    const { status, body } = await get("?open=yes&size=x", "y");
    expect(status).toBe(400);
    expect(body.errors.map(({ path }: { path: string[] }) => path)).toEqual([["count"], ["open"], ["size"]]);
  });
});

test.each([
  ["filter: Filter", "GET /external/things/:count: the argument filter of type Filter cannot be in a URL."],
  ["filters: [Filter!]!", "GET /external/things/:count: the argument filters of type [Filter!]! cannot be in a URL."],
  ["table: [[Int]]", "GET /external/things/:count: the argument table of type [[Int]] cannot be in a URL."],
])("a route with the argument %s is refused at start", async (argument, message) => {
  const wider = schemaOf(`read(count: Int!, ${argument}): String`);
  const planned = await planRest(wider, routes.slice(0, 1));
  expect(() => createRestHandler(wider, planned)).toThrow(message);
});

test("the OpenAPI document gives parameters the types that are read", () => {
  const document: any = describeApi({ schema, operations, limits: readConfig({}) });
  const { parameters } = document.paths["/external/things/{count}"].get;
  const schemas = parameters.map((parameter: { name: string; schema: unknown }) => [parameter.name, parameter.schema]);
  const int32 = { type: "integer", format: "int32" };
  const size = { $ref: "#/components/schemas/Size" };
  expect(document.components.schemas.Size).toEqual({ type: "string", enum: ["SMALL", "LARGE"] });
  expect(Object.fromEntries(schemas)).toMatchObject({
    count: int32,
    ratio: { type: "number", format: "double" },
    open: { type: "boolean", default: true },
    size,
    id: { type: "string" },
    text: { type: "string" },
    counts: { type: "array", items: int32 },
    sizes: { type: "array", items: size },
    texts: { type: "array", items: { type: "string" } },
  });
});
