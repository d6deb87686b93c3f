import { resolve } from "node:path";
import { distance } from "fastest-levenshtein";
import * as z from "zod";

/** The configuration, from the environment. docs/configuration.md lists every variable. */
export type Config = Readonly<z.output<typeof environment>>;

type Variables = Readonly<Record<string, string | undefined>>;

/** Its message names every invalid variable. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

const whole = (min: number, max: number, byDefault: number) =>
  z
    .string()
    .regex(/^\d+$/u, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .pipe(z.number().min(min, `must be at least ${min}`).max(max, `must be at most ${max}`))
    .default(byDefault);

const flag = (byDefault: boolean) =>
  z
    .enum(["true", "false"], "must be true or false")
    .transform((value) => value === "true")
    .default(byDefault);

const url = (...protocols: string[]) =>
  z.string().refine((value) => URL.canParse(value) && protocols.includes(new URL(value).protocol), {
    error: `must be a URL that starts with ${protocols.map((protocol) => `${protocol}//`).join(" or ")}`,
  });

/** Origins in the form of the Origin header. */
const origins = z
  .string()
  .default("*")
  .transform((value) => value.split(",").map((origin) => origin.trim()))
  .refine((list) => list.every(isOrigin), "must be * or origins like https://shop.example, separated by commas");

function isOrigin(text: string): boolean {
  return text === "*" || (URL.canParse(text) && new URL(text).origin === text);
}

/** Origins of pages that may show the dashboard in a frame. */
const frameAncestors = z
  .string()
  .default("")
  .transform((value) => value.split(",").flatMap((origin) => origin.trim() || []))
  .refine(
    (list) => list.every(isFrameAncestor),
    "must be origins like https://shop.example or https://*.shop.example, separated by commas",
  );

function isFrameAncestor(text: string): boolean {
  const origin = text.replace(/^(https?:\/\/)\*\./u, "$1");
  return !origin.includes("*") && isOrigin(origin);
}

/** A base path must not begin with these, because we could not tell whether a path has the prefix. */
const ownPaths = [
  "collect",
  "dashboard",
  "demo",
  "docs",
  "external",
  "graphql",
  "healthz",
  "metrics",
  "openapi.json",
  "readyz",
  "tracker",
];

/** Allows only characters that no proxy encodes, and no dot segments. `/` becomes "". */
const basePath = z
  .string()
  .max(200, "must have at most 200 characters")
  .regex(
    /^(?:\/(?!\.{1,2}(?:\/|$))[\w.~-]+)*\/?$/u,
    "must be a path like /shop-api, of letters, digits and the characters - . _ ~",
  )
  .refine((path) => !ownPaths.includes(path.split("/")[1] ?? ""), {
    error: `must not begin with one of the service's own paths: /${ownPaths.join(", /")}`,
  })
  .transform((path) => path.replace(/\/$/u, ""));

/** Another path of the tracker. It cannot be `/`. */
const trackingPath = basePath.refine((path) => path !== "", "must have a name, as in /shop-insights");

const logLevels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;

/** A variable: its name, its schema with the default, and its description for docs/configuration.md. */
function variable<Schema extends z.ZodType>(name: string, schema: Schema, description: string): Schema {
  return schema.meta({ title: name, description });
}

/** All settings, by section. `npm run docs` writes docs/configuration.md from them. */
export const sections = {
  Server: {
    host: variable("HOST", z.string().default("127.0.0.1"), "Address to listen on."),
    port: variable("PORT", whole(0, 65_535, 4_000), "Port. `0` takes a free one and prints it."),
    basePath: variable(
      "BASE_PATH",
      basePath.optional(),
      "Path [below which a proxy serves Vitrine](deploying.md#path-prefix), such as `/shop-api`.",
    ),
    webConcurrency: variable(
      "WEB_CONCURRENCY",
      whole(1, 128, 1),
      "[Worker processes](scale.md#worker-processes). More than one needs `DATABASE_URL`.",
    ),
    connectionsMax: variable(
      "MAX_CONNECTIONS",
      whole(1, 1_000_000, 10_000),
      "Client connections of each process. Further ones are closed, even for health checks.",
    ),
    requestTimeoutMs: variable(
      "REQUEST_TIMEOUT_MS",
      whole(1_000, 86_400_000, 300_000),
      "Time for a whole request to arrive.",
    ),
    keepAliveTimeoutMs: variable(
      "KEEP_ALIVE_TIMEOUT_MS",
      whole(1_000, 86_400_000, 65_000),
      "Time for which an idle connection is kept. The load balancer's timeout must be shorter.",
    ),
    shutdownGraceMs: variable(
      "SHUTDOWN_GRACE_MS",
      whole(0, 3_600_000, 10_000),
      "Time for running requests to finish after SIGTERM.",
    ),
    trustedProxies: variable(
      "TRUST_PROXY",
      whole(0, 10, 0),
      "Number of your proxies in front, for [client addresses](tracking.md#rate-limit).",
    ),
    corsOrigins: variable("CORS_ORIGINS", origins, "Origins from which browsers may call, separated by commas."),
    production: variable(
      "NODE_ENV",
      z
        .string()
        .optional()
        .transform((value) => value === "production"),
      "`production`: errors suggest no names from the schema, and pages do not fill in the demo token.",
    ),
  },
  Database: {
    databaseUrl: variable(
      "DATABASE_URL",
      url("postgres:", "postgresql:").optional(),
      "A PostgreSQL server. Without it, the embedded database is used.",
    ),
    dataDir: variable(
      "DATA_DIR",
      z
        .string()
        .default("./data")
        .transform((folder) => resolve(folder)),
      "Folder of the embedded database.",
    ),
    databasePoolMax: variable(
      "DATABASE_POOL_MAX",
      whole(1, 1_000, 10),
      "PostgreSQL connections of each process, [shared among stores](operations.md#limits).",
    ),
    databaseNamedStatements: variable(
      "DATABASE_NAMED_STATEMENTS",
      flag(true),
      "Prepare frequent statements. `false` behind a [pooler](scale.md#connection-pooling).",
    ),
    autoMigrate: variable("AUTO_MIGRATE", flag(true), "Apply pending [migrations](deploying.md#migrations) at start."),
    redisUrl: variable(
      "REDIS_URL",
      url("redis:", "rediss:").optional(),
      "Shares rate limits and live updates [between servers](scale.md#several-servers).",
    ),
  },
  Limits: {
    bodyBytesMax: variable(
      "MAX_BODY_BYTES",
      whole(1_024, 512 * 1_024 * 1_024, 64 * 1_024 * 1_024),
      "Largest request body that is neither a file nor NDJSON, decompressed.",
    ),
    uploadBytesMax: variable(
      "MAX_UPLOAD_BYTES",
      whole(1_024, 64 * 1_024 ** 3, 4 * 1_024 ** 3),
      "Largest file that is sent as a body (CSV, NDJSON), decompressed.",
    ),
    bulkProductsMax: variable(
      "MAX_BULK_PRODUCTS",
      whole(1, 10_000_000, 100_000),
      "Products in one bulk or CSV request whose body is JSON, not a file.",
    ),
    analyticsRateLimit: variable(
      "ANALYTICS_RATE_LIMIT",
      whole(0, 1_000_000_000, 100),
      "Analytics reads per minute and store; `0` is no limit.",
    ),
    subscriptionRateLimit: variable(
      "SUBSCRIPTION_RATE_LIMIT",
      whole(0, 1_000_000_000, 3_000),
      "Subscriptions that a store may open per minute; `0` is no limit.",
    ),
    collectRateLimit: variable(
      "COLLECT_RATE_LIMIT",
      whole(0, 1_000_000_000, 6_000),
      "Requests to [`/collect/v1`](tracking.md#rate-limit) per minute, address and key; `0` is no limit.",
    ),
    productRateLimit: variable(
      "PRODUCT_RATE_LIMIT",
      whole(0, 1_000_000_000, 0),
      "Product calls per minute and store; `0` is no limit.",
    ),
    eventRetentionDays: variable(
      "EVENT_RETENTION_DAYS",
      whole(0, 36_500, 0),
      "Days for which [events of ended shows](scale.md#retention) are kept; `0` is no limit.",
    ),
  },
  "Features and log": {
    graphiql: variable("GRAPHIQL", flag(true), "Serve GraphiQL."),
    trackingPath: variable(
      "TRACKING_PATH",
      trackingPath.optional(),
      "Also serve the [tracker](tracking.md#blocked-names) below this path.",
    ),
    frameAncestors: variable(
      "FRAME_ANCESTORS",
      frameAncestors,
      "Origins of pages that may show the dashboard in a frame, separated by commas.",
    ),
    persistedOperations: variable(
      "PERSISTED_OPERATIONS",
      z
        .string()
        .transform((file) => resolve(file))
        .optional(),
      "File of [persisted operations](access.md#persisted-operations).",
    ),
    persistedOperationsOnly: variable(
      "PERSISTED_OPERATIONS_ONLY",
      flag(false),
      "Refuse all other operations except the dashboard's.",
    ),
    logLevel: variable(
      "LOG_LEVEL",
      z.enum(logLevels, `must be one of ${logLevels.join(", ")}`).default("info"),
      "Level from which lines of the [log](observability.md#log) are written.",
    ),
    otlpEndpoint: variable(
      "OTEL_EXPORTER_OTLP_ENDPOINT",
      url("http:", "https:").optional(),
      "Collector for [traces](observability.md#traces) over OTLP/HTTP.",
    ),
    otelServiceName: variable("OTEL_SERVICE_NAME", z.string().default("vitrine"), "Name of the service in traces."),
    demoToken: variable(
      "DEMO_TOKEN",
      z
        .string()
        .regex(/^[\x21-\x7e]{16,200}$/u, "must have 16 to 200 visible ASCII characters")
        .optional(),
      "Token of the demo store instead of a random one. Refused with `DATABASE_URL`.",
    ),
    demoTraffic: variable(
      "DEMO_TRAFFIC",
      flag(true),
      "Simulate shoppers in the demo store's running show, until it has 100,000 events.",
    ),
  },
};

const environment = z.object({
  ...sections.Server,
  ...sections.Database,
  ...sections.Limits,
  ...sections["Features and log"],
});

/** The variable of each setting. */
const namesOfSettings = new Map(
  Object.entries(environment.shape).map(([setting, schema]) => [setting, schema.meta()?.title ?? setting]),
);

export const variableNames: readonly string[] = [...namesOfSettings.values()];

/** Reads the environment. An empty variable counts as not set. @throws {ConfigError} naming every invalid variable */
export function readConfig(all: Variables = process.env): Config {
  const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ""));
  const settings = [...namesOfSettings].map(([setting, name]) => [setting, given[name]] as const);
  const { success, data, error } = environment.safeParse(Object.fromEntries(settings));
  const problems = (error?.issues ?? [])
    .map(({ path, message }) => `${namesOfSettings.get(String(path[0]))} ${message}`)
    .concat(contradictions(given));
  if (success && problems.length === 0) return Object.freeze(data);
  throw new ConfigError(`The environment is not valid: ${problems.join("; ")}.`);
}

/** Shorter names are not compared, because two changes could make them another word. */
const comparedCharactersMin = 6;
const changesMax = 2;

/** Unknown variables that look like misspelled ones of Vitrine, each with the name that was probably meant. */
export function misspelledVariables(
  given: Variables = process.env,
): readonly { readonly name: string; readonly meant: string }[] {
  const known = variableNames.filter((name) => name.length >= comparedCharactersMin);
  return Object.keys(given).flatMap((name) => {
    if (variableNames.includes(name)) return [];
    const meant = known.find((other) => distance(name.toUpperCase(), other) <= changesMax);
    return meant === undefined ? [] : [{ name, meant }];
  });
}

/** Contradictions between variables. Compares raw values, so that an invalid variable does not hide them. */
function contradictions({ DATABASE_URL, DEMO_TOKEN, WEB_CONCURRENCY, ...others }: Variables): string[] {
  const found: string[] = [];
  if (DEMO_TOKEN !== undefined && DATABASE_URL !== undefined) {
    found.push("DEMO_TOKEN is for the embedded demo store and is refused when DATABASE_URL is set");
  }
  if (Number(WEB_CONCURRENCY) > 1 && DATABASE_URL === undefined)
    found.push("WEB_CONCURRENCY above 1 needs DATABASE_URL");
  if (others["PERSISTED_OPERATIONS_ONLY"] === "true" && others["PERSISTED_OPERATIONS"] === undefined)
    found.push("PERSISTED_OPERATIONS_ONLY needs PERSISTED_OPERATIONS");
  return found;
}
