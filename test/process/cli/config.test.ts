// @tier all
import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { ConfigError, misspelledVariables, readConfig, variableNames } from "../../../src/config.js";
import { graphqlPath } from "../../../src/graphql/gateway.js";
import { collectPath } from "../../../src/http/routes/collect.route.js";
import { createPageRoutes, type PagesOptions } from "../../../src/http/pages/routes.js";
import { cliJson } from "../../support/process/cli.js";
import { makeSharedPlace, removePlace, vitrine } from "../../support/process.js";

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

const defaults = {
  host: "127.0.0.1",
  port: 4000,
  basePath: undefined,
  databaseUrl: undefined,
  dataDir: resolve("data"),
  databasePoolMax: 10,
  databaseNamedStatements: true,
  redisUrl: undefined,
  autoMigrate: true,
  webConcurrency: 1,
  connectionsMax: 10_000,
  bodyBytesMax: 64 * 1024 * 1024,
  uploadBytesMax: 4 * 1024 ** 3,
  bulkProductsMax: 100_000,
  analyticsRateLimit: 100,
  collectRateLimit: 6_000,
  subscriptionRateLimit: 3_000,
  trustedProxies: 0,
  productRateLimit: 0,
  eventRetentionDays: 0,
  corsOrigins: ["*"],
  frameAncestors: [],
  trackingPath: undefined,
  graphiql: true,
  logLevel: "info",
  demoToken: undefined,
  demoTraffic: true,
  persistedOperations: undefined,
  persistedOperationsOnly: false,
  requestTimeoutMs: 300_000,
  keepAliveTimeoutMs: 65_000,
  shutdownGraceMs: 10_000,
  otlpEndpoint: undefined,
  otelServiceName: "vitrine",
  production: false,
};

test("without any variable every setting has its documented default", () => {
  expect(readConfig({})).toEqual(defaults);
});

test("an empty variable counts as not set", () => {
  const empty = Object.fromEntries(variableNames.map((name) => [name, ""]));
  expect(readConfig(empty)).toEqual(defaults);
});

test("the settings cannot be changed after they were read", () => {
  expect(Object.isFrozen(readConfig({}))).toBe(true);
});

test("variables of other programs are ignored", () => {
  expect(readConfig({ PATH: "/bin", npm_config_port: "x" })).toEqual(defaults);
});

/** A value of each variable that changes its setting. */
const changes: readonly (readonly [name: string, value: string, setting: object])[] = [
  ["HOST", "0.0.0.0", { host: "0.0.0.0" }],
  ["PORT", "0", { port: 0 }],
  ["PORT", "65535", { port: 65_535 }],
  ["BASE_PATH", "/shop-api", { basePath: "/shop-api" }],
  ["BASE_PATH", "/shop-api/", { basePath: "/shop-api" }],
  ["BASE_PATH", "/v1.2/_shop~a", { basePath: "/v1.2/_shop~a" }],
  ["BASE_PATH", "/", { basePath: "" }],
  ["DATABASE_URL", databaseUrl, { databaseUrl }],
  ["DATABASE_URL", "postgres://db/x", { databaseUrl: "postgres://db/x" }],
  ["DATA_DIR", "elsewhere", { dataDir: resolve("elsewhere") }],
  ["DATABASE_POOL_MAX", "3", { databasePoolMax: 3 }],
  ["DATABASE_NAMED_STATEMENTS", "false", { databaseNamedStatements: false }],
  ["REDIS_URL", "redis://cache.example:6379", { redisUrl: "redis://cache.example:6379" }],
  ["REDIS_URL", "rediss://cache.example", { redisUrl: "rediss://cache.example" }],
  ["AUTO_MIGRATE", "false", { autoMigrate: false }],
  ["WEB_CONCURRENCY", "1", { webConcurrency: 1 }],
  ["MAX_BODY_BYTES", "2048", { bodyBytesMax: 2048 }],
  ["MAX_UPLOAD_BYTES", "2048", { uploadBytesMax: 2048 }],
  ["MAX_BULK_PRODUCTS", "5", { bulkProductsMax: 5 }],
  ["MAX_CONNECTIONS", "5", { connectionsMax: 5 }],
  ["ANALYTICS_RATE_LIMIT", "7", { analyticsRateLimit: 7 }],
  ["COLLECT_RATE_LIMIT", "0", { collectRateLimit: 0 }],
  ["SUBSCRIPTION_RATE_LIMIT", "9", { subscriptionRateLimit: 9 }],
  ["TRUST_PROXY", "2", { trustedProxies: 2 }],
  ["PRODUCT_RATE_LIMIT", "8", { productRateLimit: 8 }],
  ["EVENT_RETENTION_DAYS", "90", { eventRetentionDays: 90 }],
  ["TRACKING_PATH", "/shop-insights/", { trackingPath: "/shop-insights" }],
  [
    "FRAME_ANCESTORS",
    "https://a.example, https://*.b.example",
    { frameAncestors: ["https://a.example", "https://*.b.example"] },
  ],
  ["CORS_ORIGINS", "https://a.example, https://b.example", { corsOrigins: ["https://a.example", "https://b.example"] }],
  ["GRAPHIQL", "false", { graphiql: false }],
  ["LOG_LEVEL", "silent", { logLevel: "silent" }],
  ["DEMO_TOKEN", token, { demoToken: token }],
  ["DEMO_TRAFFIC", "false", { demoTraffic: false }],
  ["PERSISTED_OPERATIONS", "ops.json", { persistedOperations: resolve("ops.json") }],
  ["PERSISTED_OPERATIONS_ONLY", "false", { persistedOperationsOnly: false }],
  ["REQUEST_TIMEOUT_MS", "1000", { requestTimeoutMs: 1_000 }],
  ["KEEP_ALIVE_TIMEOUT_MS", "620000", { keepAliveTimeoutMs: 620_000 }],
  ["SHUTDOWN_GRACE_MS", "0", { shutdownGraceMs: 0 }],
  ["OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector.example:4318", { otlpEndpoint: "http://collector.example:4318" }],
  ["OTEL_SERVICE_NAME", "shop", { otelServiceName: "shop" }],
  ["NODE_ENV", "production", { production: true }],
];

/** Those whose setting is a number. */
const wholeNumbers = new Set(
  changes.filter(([, , setting]) => typeof Object.values(setting)[0] === "number").map(([name]) => name),
);

describe("each variable changes its setting", () => {
  test.each(changes)("%s=%s", (name, value, setting) => {
    expect(readConfig({ [name]: value })).toEqual({ ...defaults, ...setting });
  });

  test("none is left out above", () => {
    expect(new Set(changes.map(([name]) => name))).toEqual(new Set(variableNames));
  });

  test("WEB_CONCURRENCY=4, with a PostgreSQL server", () => {
    expect(readConfig({ WEB_CONCURRENCY: "4", DATABASE_URL: databaseUrl })).toEqual({
      ...defaults,
      webConcurrency: 4,
      databaseUrl,
    });
  });
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
  test.each([...wholeNumbers].flatMap((name) => badNumbers.map((value) => [name, value] as const)))(
    "%s=%s",
    (name, value) => {
      const problems = problemsOf({ [name]: value, DATABASE_URL: databaseUrl });
      expect(problems).toEqual([expect.stringMatching(new RegExp(`^${name} must be `, "u"))]);
    },
  );

  test.each([
    ["PORT", "65536", "PORT must be at most 65535"],
    ["DATABASE_POOL_MAX", "0", "DATABASE_POOL_MAX must be at least 1"],
    ["MAX_UPLOAD_BYTES", "1023", "MAX_UPLOAD_BYTES must be at least 1024"],
    ["MAX_BULK_PRODUCTS", "0", "MAX_BULK_PRODUCTS must be at least 1"],
    ["MAX_CONNECTIONS", "0", "MAX_CONNECTIONS must be at least 1"],
    ["MAX_BODY_BYTES", "10", "MAX_BODY_BYTES must be at least 1024"],
    ["WEB_CONCURRENCY", "0", "WEB_CONCURRENCY must be at least 1"],
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

test("a command warns of a misspelled variable and goes on; doctor lists it", async () => {
  const place = await makeSharedPlace();
  onTestFinished(() => removePlace(place));
  const { env } = place;
  const create = ["store", "create", `store-${randomUUID()}`];
  const { status, stderr } = await vitrine(create, { ...env, DATABSE_URL: "postgres://nowhere" });
  expect([status, stderr]).toEqual([0, "vitrine: Unknown variable DATABSE_URL. Did you mean DATABASE_URL?\n"]);
  const { checks } = await cliJson(["doctor"], { ...env, PORT: "0", DATABSE_URL: "x" });
  expect(checks.find(({ name }: { name: string }) => name === "environment")).toMatchObject({
    status: "warning",
    detail: "unknown variables: DATABSE_URL",
  });
});
