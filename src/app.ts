import type { RequestListener } from "node:http";
import type { Logger } from "pino";
import { createIdentify } from "./stores/token.js";
import { createFindKey } from "./stores/publicKey.js";
import { TokenEnds } from "./stores/validity/validity.js";
import type { LiveFeed } from "./schema/context.js";
import { createLiveFeed } from "./figures/feed/feed.js";
import { shareMetrics } from "./server/cluster/sharedMetrics.js";
import { type Channel, createPrimaryWarn, onlyOnce } from "./server/cluster/channel.js";
import { createFindHook } from "./orders/hooks/hook.js";
import { createOrderSweep } from "./orders/attribution/attributePending.js";
import { foldDue } from "./events/record/fold.js";
import { createRetentionSweep } from "./figures/totals/retention.js";
import { exportPlaces } from "./catalog/export/export.js";
import { createImportSweep } from "./catalog/import/staging/recover.js";
import { readingThreads } from "./files/readingThread.js";
import type { Config } from "./config.js";
import type { OpenDatabase } from "./database/open.js";
import { forStore, sharesOf } from "./database/shares/forStore.js";
import { createEventStreams } from "./api/graphql/eventStream.js";
import { createFastPath } from "./api/graphql/fastPath.js";
import { createGateway } from "./api/graphql/gateway.js";
import { KnownOperations } from "./api/execution/operationCache.js";
import { createPersistedOperations, type PersistedOperations } from "./api/graphql/persisted.js";
import { readPersistedOperations } from "./api/graphql/persisted.file.js";
import { schema } from "./api/graphql/schema.js";
import { createKnownSubscriptions } from "./api/graphql/subscription.js";
import { createBodyBudget } from "./server/content/body.js";
import { gatewayCompression } from "./server/content/gatewayCompression.js";
import { uploadPlaces } from "./server/content/upload.js";
import type { DemoShop } from "./server/pages/demo/demoPage.js";
import { readDashboardOperations } from "./server/pages/dashboard.js";
import { createRequestListener } from "./server/http/router.js";
import { exportRoutes } from "./api/rest/exports/export.routes.js";
import { describeApi, describeServer } from "./api/openapi/document.js";
import { type PreparedRest, prepareRest } from "./api/rest/handler.js";
import { startSweep, type Sweep } from "./lib/sweep.js";
import type { MetricSources } from "./server/telemetry/metrics.js";
import { createTelemetry, type Telemetry } from "./server/telemetry/telemetry.js";
import type { Tracing } from "./server/telemetry/tracing.js";
import { policiesOf, type RateLimits } from "./schema/limits/policies.js";
import { createLocalCounter } from "./stores/rateLimits/rateLimit.memory.js";
import { openRedisCounter } from "./stores/rateLimits/rateLimit.redis.js";
import { openRelay } from "./figures/feed/feed.database.js";
import { readAnalytics } from "./figures/show/kpis.read.js";
import { createPrimaryCounter } from "./server/cluster/primaryCounter.js";
import { type Fault, mapDatabaseError, serverMessageOf, sqlStateOf } from "./database/databaseErrors.js";
import { watchFaults } from "./database/faults/watchFaults.js";

/** All bodies together may use as much memory as this many of the largest size. */
const bodiesAtOnceMax = 4;
const sweepEveryMs = 300_000;
/** Intervals vary by half. Totals are folded 10 seconds after their show or minute has ended. */
const foldEveryMs = 5_000;
const ordersEveryMs = 5_000;
/** How often the sweep checks whether an hour has passed. The first round comes within a minute of the start. */
const retentionEveryMs = 30_000;

/** The whole service, without a port. */
export interface App {
  readonly handler: RequestListener;
  /** The live feed. Notify it of changes that are made without a request. */
  readonly feed: LiveFeed;
  /** Has pages fill in this token for browsers on this machine. Does nothing in production. */
  showDemoToken(token: string): void;
  /** Serves this shop at `/demo`. */
  showDemoShop(shop: DemoShop): void;
  /** Closes everything except the database, first streams to clients. @param timeoutMs for the last traces; 1 second by default */
  close(timeoutMs?: number): Promise<void>;
}

export interface AppOptions {
  /** A worker's channel to the primary, which has the metrics of all workers and, without Redis, counts their calls. */
  readonly primary?: Channel;
  /** Apps of one process may share it, because preparing it takes long. */
  readonly rest?: Promise<PreparedRest>;
}

/** Composes the service, and does all work that can be done before the first request. */
export async function createApp(
  config: Config,
  database: OpenDatabase,
  log: Logger,
  options: AppOptions = {},
): Promise<App> {
  const { primary, rest: preparedRest = prepareRest(schema) } = options;
  const { operations, handler: rest } = await preparedRest;
  const graphql = await openGraphql(config);
  // If the app cannot be created from here on, it must close open connections.
  const { stop, close: closeRunning, ...running } = await openRunning(config, database, log, primary);
  const close = async (timeoutMs = 1_000): Promise<void> => {
    await stop();
    await graphql.gateway.dispose();
    await closeRunning(timeoutMs);
  };
  const { showDemoToken, showDemoShop, ...demo } = createDemo(config);
  try {
    const api = describeApi({ schema, operations, exports: exportRoutes, limits: config });
    const handler = createRequestListener({
      config,
      db: database.client,
      readiness: database.readiness,
      log,
      ...openAccess(database),
      ...running,
      ...graphql,
      warnOnce: onlyOnce(primary === undefined ? (text) => log.warn(text) : createPrimaryWarn(primary)),
      rest,
      writeOpenApi: (serverUrl) => JSON.stringify(describeServer(api, serverUrl)),
      ...demo,
    });
    return { handler, feed: running.feed, showDemoToken, showDemoShop, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function createDemo({ production }: Config) {
  const shown: { token?: string; shop?: DemoShop } = {};
  return {
    demoToken: () => shown.token,
    demoShop: () => shown.shop,
    showDemoToken: (token: string): void => {
      if (!production) shown.token = token;
    },
    showDemoShop: (shop: DemoShop): void => {
      shown.shop = shop;
    },
  };
}

/** All entry points for operations. They share the known ones. */
async function openGraphql(config: Config) {
  const known = new KnownOperations(schema, { suggestions: !config.production });
  const subscriptions = createKnownSubscriptions(schema, known);
  return {
    gateway: createGateway(known, [gatewayCompression]),
    fastPath: createFastPath(known),
    openEventStream: createEventStreams(subscriptions),
    persisted: await openPersistedOperations(config, known),
  };
}

/** Everything that holds connections or runs by itself. */
async function openRunning(config: Config, database: OpenDatabase, log: Logger, primary: Channel | undefined) {
  const tracing = await openTracing(config, database, log);
  const rateLimits = await openRateLimits(config, log, primary);
  const feed = await openFeed(config, database, log);
  const bodies = createBodyBudget(bodiesAtOnceMax * config.bodyBytesMax);
  const telemetry = openTelemetry(config, log, { feed, database, bodies }, tracing, primary);
  const sweeps = startSweeps(config, { client: database.client, feed }, log);
  const faults = logFaults(database, log);
  return {
    feed,
    rateLimits,
    bodies,
    telemetry,
    /** Stops the sweeps, and ends streams to clients. */
    stop: () => Promise.all([...sweeps.map((sweep) => sweep.stop()), feed.close()]),
    close: async (timeoutMs: number): Promise<void> => {
      rateLimits.count.close();
      await telemetry.close(timeoutMs);
      faults.stop();
    },
  };
}

function openAccess({ client }: OpenDatabase) {
  return {
    identify: createIdentify(client),
    findKey: createFindKey(client),
    findHook: createFindHook(client),
    tokenEnds: new TokenEnds(),
  };
}

function openTelemetry(
  config: Config,
  log: Logger,
  sources: Pick<MetricSources, "feed" | "bodies"> & { readonly database: OpenDatabase },
  tracing: Tracing | undefined,
  primary: Channel | undefined,
): Telemetry {
  const shares = sharesOf(sources.database.client);
  const places = {
    uploads: uploadPlaces,
    threads: readingThreads,
    exports: exportPlaces,
    ...(shares && { connections: shares.requests, long_imports: shares.longWork, wide_reads: shares.wideReads }),
  };
  const share = primary && shareMetrics.bind(undefined, primary);
  const dataDir = sources.database.engine.kind === "embedded" ? config.dataDir : undefined;
  return createTelemetry({ log, sources: { ...sources, places, dataDir }, tracing, share });
}

/** A round that fails is repeated. Only the first failure in a row is logged. */
function startSweeps(
  { eventRetentionDays }: Config,
  { client, feed }: Pick<OpenDatabase, "client"> & { readonly feed: LiveFeed },
  log: Logger,
): readonly Sweep[] {
  const sweep = (everyMs: number, failure: string, work: (signal: AbortSignal) => Promise<void>) =>
    startSweep({ everyMs, work, onError: (error) => log.warn({ err: error }, `${failure}; retrying later`) });
  return [
    sweep(sweepEveryMs, "Leftovers of imports could not be removed", createImportSweep(client)),
    sweep(ordersEveryMs, "Orders could not be attributed", createOrderSweep(client, feed.changed.bind(feed))),
    sweep(foldEveryMs, "Totals could not be folded", (signal) => foldDue(client, signal)),
    ...(eventRetentionDays === 0
      ? []
      : [sweep(retentionEveryMs, "Old events could not be removed", createRetentionSweep(client, eventRetentionDays))]),
  ];
}

async function openPersistedOperations(
  { persistedOperations: path, persistedOperationsOnly: only }: Config,
  known: KnownOperations,
): Promise<PersistedOperations> {
  if (path === undefined) return createPersistedOperations({ documents: undefined, only: false, ownTexts: [] });
  const documents = await readPersistedOperations(path, known);
  const ownTexts = only ? await readDashboardOperations() : [];
  return createPersistedOperations({ documents, only, ownTexts });
}

/** Loads OpenTelemetry only if there is a collector. */
async function openTracing(config: Config, { probe }: OpenDatabase, log: Logger): Promise<Tracing | undefined> {
  const { otlpEndpoint: endpoint, otelServiceName: serviceName } = config;
  if (endpoint === undefined) return undefined;
  const { createTracing } = await import("./server/telemetry/tracing.js");
  const tracing = createTracing({ endpoint, serviceName }, (problem) =>
    log.warn({ err: problem.message }, "The trace collector is unavailable; traces are dropped until it recovers"),
  );
  probe.aroundQuery = tracing.aroundQuery;
  return tracing;
}

const faultLines: Readonly<Record<Fault, string>> = {
  "read-only": "The database is read-only",
  "disk full": "The disk of the database is full",
  damaged: "The files of the database are damaged",
  "login refused": "The database refuses the login",
  "database missing": "The database does not exist",
  "privileges missing": "The database role lacks a privilege",
  "not migrated": "The database has no such table, or the role may not use its schema",
};

/** Logs a fault of the database once until it is over, not for each affected request. */
function logFaults(database: OpenDatabase, log: Logger): { stop(): void } {
  return watchFaults(database, {
    failed: (fault, error) =>
      log.error(
        { fault, sqlState: sqlStateOf(error), err: serverMessageOf(error) },
        `${faultLines[fault]}; requests get 503 until it recovers. npx vitrine doctor says what to do`,
      ),
    recovered: (fault) => log.info({ fault }, "The database has recovered"),
  });
}

/** If calls are limited, counts them in Redis, otherwise in the primary process. */
async function openRateLimits(config: Config, log: Logger, primary: Channel | undefined): Promise<RateLimits> {
  const policies = policiesOf(config);
  if (Object.keys(policies).length === 0) return { policies, count: createLocalCounter() };
  const warn = (who: string) => (problem: Error) =>
    log.warn({ err: problem.message }, `${who} is unavailable; this process counts calls separately until it recovers`);
  if (config.redisUrl !== undefined) {
    return { policies, count: await openRedisCounter(config.redisUrl, warn("Redis")) };
  }
  return {
    policies,
    count: primary === undefined ? createLocalCounter() : createPrimaryCounter(primary, warn("The primary process")),
  };
}

/** The live feed. It reaches clients of other processes through Redis or, without it, through the database. */
async function openFeed(config: Config, database: OpenDatabase, log: Logger): Promise<LiveFeed> {
  const read = (storeId: string, lsId: string) =>
    readAnalytics(forStore(database.client, storeId), storeId, lsId).catch((error: unknown) =>
      Promise.reject(mapDatabaseError(error) as Error),
    );
  const relay = await openRelay(database, config, (problem, what) =>
    log.warn(
      { err: problem.message },
      `${what} is unavailable; live figures reach clients of one process only until it recovers`,
    ),
  );
  return createLiveFeed({ read, relay });
}
