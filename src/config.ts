import { resolve } from "node:path";
import { distance } from "fastest-levenshtein";
import * as z from "zod";

/** The configuration from the environment. docs/operations.md lists every variable. */
export type Config = Readonly<z.output<typeof environment>>;

type Variables = Readonly<Record<string, string | undefined>>;

/** Names every invalid variable in one message. */
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

/** As browsers send them in the Origin header. */
const origins = z
  .string()
  .default("*")
  .transform((value) => value.split(",").map((origin) => origin.trim()))
  .refine((list) => list.every(isOrigin), "must be * or origins like https://shop.example, separated by commas");

function isOrigin(text: string): boolean {
  return text === "*" || (URL.canParse(text) && new URL(text).origin === text);
}

/** Of pages that may show the dashboard in a frame. */
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

/** Paths of Vitrine: below one of them, a path with and one without the prefix could not be distinguished. */
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

/** Characters that no proxy encodes, and no dot segments. It becomes "" for `/`. */
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

/** Another path of the tracker: that of the service as a whole may not be it. */
const trackingPath = basePath.refine((path) => path !== "", "must have a name, as in /shop-insights");

const logLevels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;

const variables = z.object({
  HOST: z.string().default("127.0.0.1"),
  PORT: whole(0, 65_535, 4_000),
  BASE_PATH: basePath.optional(),
  DATABASE_URL: url("postgres:", "postgresql:").optional(),
  DATA_DIR: z.string().default("./data"),
  DATABASE_POOL_MAX: whole(1, 1_000, 10),
  DATABASE_NAMED_STATEMENTS: flag(true),
  REDIS_URL: url("redis:", "rediss:").optional(),
  AUTO_MIGRATE: flag(true),
  WEB_CONCURRENCY: whole(1, 128, 1),
  MAX_CONNECTIONS: whole(1, 1_000_000, 10_000),
  MAX_BODY_BYTES: whole(1_024, 512 * 1_024 * 1_024, 64 * 1_024 * 1_024),
  MAX_UPLOAD_BYTES: whole(1_024, 64 * 1_024 ** 3, 4 * 1_024 ** 3),
  MAX_BULK_PRODUCTS: whole(1, 10_000_000, 100_000),
  ANALYTICS_RATE_LIMIT: whole(0, 1_000_000_000, 100),
  COLLECT_RATE_LIMIT: whole(0, 1_000_000_000, 6_000),
  TRACKING_PATH: trackingPath.optional(),
  SUBSCRIPTION_RATE_LIMIT: whole(0, 1_000_000_000, 3_000),
  TRUST_PROXY: whole(0, 10, 0),
  PRODUCT_RATE_LIMIT: whole(0, 1_000_000_000, 0),
  EVENT_RETENTION_DAYS: whole(0, 36_500, 0),
  CORS_ORIGINS: origins,
  FRAME_ANCESTORS: frameAncestors,
  GRAPHIQL: flag(true),
  LOG_LEVEL: z.enum(logLevels, `must be one of ${logLevels.join(", ")}`).default("info"),
  DEMO_TOKEN: z
    .string()
    .regex(/^[\x21-\x7e]{16,200}$/u, "must have 16 to 200 visible ASCII characters")
    .optional(),
  DEMO_TRAFFIC: flag(true),
  PERSISTED_OPERATIONS: z.string().optional(),
  PERSISTED_OPERATIONS_ONLY: flag(false),
  REQUEST_TIMEOUT_MS: whole(1_000, 86_400_000, 300_000),
  KEEP_ALIVE_TIMEOUT_MS: whole(1_000, 86_400_000, 65_000),
  SHUTDOWN_GRACE_MS: whole(0, 3_600_000, 10_000),
  OTEL_EXPORTER_OTLP_ENDPOINT: url("http:", "https:").optional(),
  OTEL_SERVICE_NAME: z.string().default("vitrine"),
  NODE_ENV: z.string().optional(),
});

/** By name, what each variable may be. */
export const variableSchemas: Readonly<Record<string, z.ZodType>> = variables.shape;

export const variableNames: readonly string[] = Object.keys(variableSchemas);

const environment = variables.transform((values) => ({
  host: values.HOST,
  port: values.PORT,
  basePath: values.BASE_PATH,
  databaseUrl: values.DATABASE_URL,
  dataDir: resolve(values.DATA_DIR),
  databasePoolMax: values.DATABASE_POOL_MAX,
  databaseNamedStatements: values.DATABASE_NAMED_STATEMENTS,
  redisUrl: values.REDIS_URL,
  autoMigrate: values.AUTO_MIGRATE,
  webConcurrency: values.WEB_CONCURRENCY,
  connectionsMax: values.MAX_CONNECTIONS,
  bodyBytesMax: values.MAX_BODY_BYTES,
  uploadBytesMax: values.MAX_UPLOAD_BYTES,
  bulkProductsMax: values.MAX_BULK_PRODUCTS,
  analyticsRateLimit: values.ANALYTICS_RATE_LIMIT,
  collectRateLimit: values.COLLECT_RATE_LIMIT,
  trackingPath: values.TRACKING_PATH,
  subscriptionRateLimit: values.SUBSCRIPTION_RATE_LIMIT,
  trustedProxies: values.TRUST_PROXY,
  productRateLimit: values.PRODUCT_RATE_LIMIT,
  eventRetentionDays: values.EVENT_RETENTION_DAYS,
  corsOrigins: values.CORS_ORIGINS,
  frameAncestors: values.FRAME_ANCESTORS,
  graphiql: values.GRAPHIQL,
  logLevel: values.LOG_LEVEL,
  demoToken: values.DEMO_TOKEN,
  demoTraffic: values.DEMO_TRAFFIC,
  persistedOperations: values.PERSISTED_OPERATIONS === undefined ? undefined : resolve(values.PERSISTED_OPERATIONS),
  persistedOperationsOnly: values.PERSISTED_OPERATIONS_ONLY,
  requestTimeoutMs: values.REQUEST_TIMEOUT_MS,
  keepAliveTimeoutMs: values.KEEP_ALIVE_TIMEOUT_MS,
  shutdownGraceMs: values.SHUTDOWN_GRACE_MS,
  otlpEndpoint: values.OTEL_EXPORTER_OTLP_ENDPOINT,
  otelServiceName: values.OTEL_SERVICE_NAME,
  production: values.NODE_ENV === "production",
}));

/** Reads the environment. An empty variable counts as not set. @throws {ConfigError} naming every invalid variable */
export function readConfig(all: Variables = process.env): Config {
  const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ""));
  const { success, data, error } = environment.safeParse(given);
  const problems = (error?.issues ?? [])
    .map(({ path, message }) => `${path.join(".")} ${message}`)
    .concat(contradictions(given));
  if (success && problems.length === 0) return Object.freeze(data);
  throw new ConfigError(`The environment is not valid: ${problems.join("; ")}.`);
}

/** Names are compared where they are long enough that two changes do not make them another word. */
const comparedCharactersMin = 6;
const changesMax = 2;

/** Variables that are set, mean nothing here, and look like misspelled ones of Vitrine, each with the name that was probably meant. */
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

/** Contradictions between variables, of the raw values, so that one invalid variable does not hide them. */
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
