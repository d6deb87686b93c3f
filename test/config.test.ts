import { resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { ConfigError, misspelledVariables, readConfig, variableNames } from "../src/config.js";
import { graphqlPath } from "../src/api/graphql/gateway.js";
import { collectPath } from "../src/server/http/routes/collect.route.js";
import { createPageRoutes, type PagesOptions } from "../src/server/pages/pageRoutes.js";
import { everyVariable, neededWith } from "./support/process/variables.js";

const token = "a-demo-token-of-my-own";
const databaseUrl = "postgresql://vitrine@db.example/vitrine";

/** What readConfig says is wrong. */
function problemsOf(variables: Record<string, string>): string[] {
  try {
    readConfig(variables);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.message.replace(/^The environment is not valid: (.*)\.$/u, "$1").split("; ");
  }
  return [];
}

const defaults = readConfig({});

test.each(everyVariable)("$name=$byDefault, its default, is what counts without it", ({ name, byDefault }) => {
  expect(readConfig({ [name]: byDefault })).toEqual(defaults);
});

test("an empty variable counts as not set, and variables of other programs are ignored", () => {
  const empty = Object.fromEntries(variableNames.map((name) => [name, ""]));
  expect(readConfig({ ...empty, PATH: "/bin", npm_config_port: "x" })).toEqual(defaults);
});

test("the settings cannot be changed after they were read", () => {
  expect(Object.isFrozen(defaults)).toBe(true);
});

/** Settings whose names have other words than their variables. */
const otherNames: Readonly<Record<string, string>> = { TRUST_PROXY: "trustedProxies", NODE_ENV: "production" };

test.each(everyVariable)(
  "$name=$other changes one setting, which has its name",
  ({ name, other, byDefault, bounds }) => {
    const others = neededWith[name] ?? {};
    const [before, after] = [readConfig(others), readConfig({ ...others, [name]: other })];
    const changed = Object.keys(after).filter(
      (key) => JSON.stringify(Reflect.get(after, key)) !== JSON.stringify(Reflect.get(before, key)),
    );
    expect(changed).toHaveLength(1);
    const [setting = ""] = changed;
    const words = setting
      .replaceAll(/[A-Z]/gu, (letter) => ` ${letter}`)
      .toUpperCase()
      .split(" ");
    if (otherNames[name] !== undefined) expect(setting).toBe(otherNames[name]);
    else expect(words.filter((word) => !name.split("_").includes(word))).toEqual([]);
    if (bounds !== undefined) expect(Reflect.get(after, setting)).toBe(Number(other));
    if (byDefault === "true" || byDefault === "false") expect(String(Reflect.get(after, setting))).toBe(other);
  },
);

/** What settings are made of, where it is not the text itself. */
test.each([
  ["BASE_PATH", "/shop-api/", { basePath: "/shop-api" }],
  ["BASE_PATH", "/v1.2/_shop~a", { basePath: "/v1.2/_shop~a" }],
  ["BASE_PATH", "/", { basePath: "" }],
  ["TRACKING_PATH", "/shop-insights/", { trackingPath: "/shop-insights" }],
  ["DATABASE_URL", "postgres://db/x", { databaseUrl: "postgres://db/x" }],
  ["REDIS_URL", "rediss://cache.example", { redisUrl: "rediss://cache.example" }],
  ["DATA_DIR", "elsewhere", { dataDir: resolve("elsewhere") }],
  ["PERSISTED_OPERATIONS", "ops.json", { persistedOperations: resolve("ops.json") }],
  [
    "FRAME_ANCESTORS",
    "https://a.example, https://*.b.example",
    { frameAncestors: ["https://a.example", "https://*.b.example"] },
  ],
  ["CORS_ORIGINS", "https://a.example, https://b.example", { corsOrigins: ["https://a.example", "https://b.example"] }],
])("%s=%s", (name, value, setting) => {
  expect(readConfig({ [name]: value })).toEqual({ ...defaults, ...setting });
});

describe("an invalid value is refused with the name of its variable", () => {
  test.each([
    "https://a.example/",
    "https://a.example/shop",
    "https://A.example",
    "https://a.example:443",
    "a.example",
    "null",
    "https://*.a.example/",
    "https://a.example,,https://b.example",
    "https://a.example;https://b.example",
  ])("CORS_ORIGINS=%s", (value) => {
    const problem = "CORS_ORIGINS must be * or origins like https://shop.example, separated by commas";
    expect(problemsOf({ CORS_ORIGINS: value, PORT: "x" })).toEqual([
      "PORT must be a whole number from 0 to 65535",
      problem,
    ]);
  });

  test.each([
    "shop",
    "//shop",
    "/shop//a",
    "/shop api",
    "/shop%20",
    "/..",
    "/a/./b",
    "https://shop.example/a",
    "/a?b",
    "/ä",
  ])("BASE_PATH=%s", (value) => {
    expect(problemsOf({ BASE_PATH: value })).toEqual([
      "BASE_PATH must be a path like /shop-api, of letters, digits and the characters - . _ ~",
    ]);
  });

  test.each(["*", "https://a.example/", "a.example", "https://*", "'self'", "https://a.example; script-src *"])(
    "FRAME_ANCESTORS=%s",
    (value) => {
      expect(problemsOf({ FRAME_ANCESTORS: value })).toEqual([
        "FRAME_ANCESTORS must be origins like https://shop.example or https://*.shop.example, separated by commas",
      ]);
    },
  );

  test("TRACKING_PATH without a name, or below a path of the service itself", () => {
    expect(problemsOf({ TRACKING_PATH: "/" })).toEqual(["TRACKING_PATH must have a name, as in /shop-insights"]);
    expect(problemsOf({ TRACKING_PATH: "/external/a" })[0]).toMatch(/^TRACKING_PATH must not begin with one of/u);
  });

  test("BASE_PATH below a path of the service itself, or too long", () => {
    const own =
      "/collect, /dashboard, /demo, /docs, /external, /graphql, /healthz, /metrics, /openapi.json, /readyz, /tracker";
    for (const path of own.split(", ").flatMap((name) => [name, `${name}/a`])) {
      expect(problemsOf({ BASE_PATH: path })).toEqual([
        `BASE_PATH must not begin with one of the service's own paths: ${own}`,
      ]);
    }
    expect(problemsOf({ BASE_PATH: `/${"a".repeat(200)}` })).toEqual(["BASE_PATH must have at most 200 characters"]);
  });

  test("BASE_PATH below any path that the service has", () => {
    const options = { config: readConfig({}), telemetry: {}, readiness: {} } as unknown as PagesOptions;
    const paths = ["/external", graphqlPath, collectPath, ...createPageRoutes(options).keys()];
    const names = new Set(paths.map((path) => path.split("/")[1] ?? "").filter((name) => name !== ""));
    expect([...names].filter((name) => problemsOf({ BASE_PATH: `/${name}` }).length === 0)).toEqual([]);
  });

  const badNumbers = ["abc", "-1", "1.5", "1e3", " 1", "0x10", "99999999999999999999"];
  const numbers = everyVariable.flatMap(({ name, bounds }) => (bounds === undefined ? [] : [{ name, ...bounds }]));

  test.each(numbers)("$name that is no whole number from $min to $max", ({ name, min, max }) => {
    const problems = (value: string) => problemsOf({ DATABASE_URL: databaseUrl, [name]: value });
    for (const value of [String(min), String(max)]) expect([value, problems(value)]).toEqual([value, []]);
    for (const value of badNumbers) {
      expect([value, problems(value)]).toEqual([value, [expect.stringMatching(new RegExp(`^${name} must be `, "u"))]]);
    }
    expect(problems(String(max + 1))).toEqual([`${name} must be at most ${max}`]);
    if (min > 0) expect(problems(String(min - 1))).toEqual([`${name} must be at least ${min}`]);
  });

  test.each([
    ["DATABASE_URL", "mysql://db/x", "DATABASE_URL must be a URL that starts with postgres:// or postgresql://"],
    ["DATABASE_URL", "db.example", "DATABASE_URL must be a URL that starts with postgres:// or postgresql://"],
    ["REDIS_URL", "localhost:6379", "REDIS_URL must be a URL that starts with redis:// or rediss://"],
    ["AUTO_MIGRATE", "yes", "AUTO_MIGRATE must be true or false"],
    ["GRAPHIQL", "TRUE", "GRAPHIQL must be true or false"],
    ["LOG_LEVEL", "loud", "LOG_LEVEL must be one of trace, debug, info, warn, error, fatal, silent"],
    ["DEMO_TOKEN", "short", "DEMO_TOKEN must have 16 to 200 visible ASCII characters"],
    ["DEMO_TOKEN", "with a space in the middle", "DEMO_TOKEN must have 16 to 200 visible ASCII characters"],
    ["DEMO_TOKEN", "x".repeat(201), "DEMO_TOKEN must have 16 to 200 visible ASCII characters"],
  ])("%s=%s", (name, value, problem) => {
    expect(problemsOf({ [name]: value })).toEqual([problem]);
  });

  test("a password in DATABASE_URL is not repeated in the problem", () => {
    expect(problemsOf({ DATABASE_URL: "mysql://vitrine:s3cret@db/x" }).join()).not.toContain("s3cret");
  });
});

describe("variables that contradict each other are refused", () => {
  test("DEMO_TOKEN with DATABASE_URL", () => {
    expect(problemsOf({ DEMO_TOKEN: token, DATABASE_URL: databaseUrl })).toEqual([
      "DEMO_TOKEN is for the embedded demo store and is refused when DATABASE_URL is set",
    ]);
  });

  test("several processes without a PostgreSQL server", () => {
    expect(problemsOf({ WEB_CONCURRENCY: "2" })).toEqual(["WEB_CONCURRENCY above 1 needs DATABASE_URL"]);
  });
});

test("PERSISTED_OPERATIONS_ONLY requires PERSISTED_OPERATIONS", () => {
  expect(problemsOf({ PERSISTED_OPERATIONS_ONLY: "true" })).toEqual([
    "PERSISTED_OPERATIONS_ONLY needs PERSISTED_OPERATIONS",
  ]);
  const both = { PERSISTED_OPERATIONS_ONLY: "true", PERSISTED_OPERATIONS: "ops.json" };
  expect(readConfig(both)).toMatchObject({ persistedOperationsOnly: true, persistedOperations: resolve("ops.json") });
});

test("all problems are listed at once: of each variable, and between them", () => {
  expect(
    problemsOf({
      PORT: "http",
      GRAPHIQL: "on",
      LOG_LEVEL: "loud",
      DEMO_TOKEN: "x",
      REDIS_URL: "x",
      WEB_CONCURRENCY: "2",
    }),
  ).toEqual([
    "PORT must be a whole number from 0 to 65535",
    "REDIS_URL must be a URL that starts with redis:// or rediss://",
    "GRAPHIQL must be true or false",
    "LOG_LEVEL must be one of trace, debug, info, warn, error, fatal, silent",
    "DEMO_TOKEN must have 16 to 200 visible ASCII characters",
    "WEB_CONCURRENCY above 1 needs DATABASE_URL",
  ]);
});

test.each([
  ["DATABSE_URL", "DATABASE_URL"],
  ["DATABASE_URI", "DATABASE_URL"],
  ["LOGLEVEL", "LOG_LEVEL"],
  ["redis_url", "REDIS_URL"],
])("%s is reported as a misspelled %s", (name, meant) => {
  expect(
    misspelledVariables({ [name]: "x", PATH: "/bin", HOSTNAME: "h", SPORT: "1", OTEL_RESOURCE_ATTRIBUTES: "" }),
  ).toEqual([{ name, meant }]);
});
