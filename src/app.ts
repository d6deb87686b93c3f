import type { RequestListener } from "node:http";
import type { Logger } from "pino";
import { createIdentify } from "./access/identity.js";
import { createFindKey } from "./access/key.lookup.js";
import { policiesOf, type RateLimits } from "./access/rateLimit.js";
import { createLocalCounter } from "./access/rateLimit.memory.js";
import { createPrimaryCounter } from "./cluster/rateLimit.js";
import { openRedisCounter } from "./access/rateLimit.redis.js";
import { createLiveFeed, type LiveFeed } from "./analytics/feed/feed.js";
import { combineRelays, createDatabaseRelay } from "./analytics/feed/feed.database.js";
import { createPrimaryRelay } from "./cluster/feed.js";
import { shareMetrics } from "./cluster/metrics.js";
import { type FeedRelay, openRedisRelay } from "./analytics/feed/feed.relay.js";
import { readAnalytics } from "./analytics/kpis/kpis.read.js";
import { foldDue } from "./analytics/totals/foldDue.js";
import { createRetentionSweep } from "./analytics/totals/retention.js";
import { createKeySweep } from "./catalog/import/idempotency/expired.js";
import type { Config } from "./config.js";
import { mapDatabaseError } from "./database/errors.js";
import { forStore } from "./database/shares/forStore.js";
import type { OpenDatabase } from "./database/open.js";
import { createEventStreams } from "./graphql/eventStream.js";
import { createFastPath } from "./graphql/fastPath.js";
import { createGateway } from "./graphql/gateway.js";
import { createKnownOperations, type KnownOperations } from "./execution/operationCache.js";
import { createPersistedOperations, type PersistedOperations } from "./graphql/persisted.js";
import { readPersistedOperations } from "./graphql/persisted.file.js";
import { schema } from "./graphql/schema.js";
import { createKnownSubscriptions } from "./graphql/subscriptions.js";
import { gatewayCompression } from "./http/content/gatewayCompression.js";
import type { DemoShop } from "./http/pages/demo/page.js";
import { readDashboardOperations } from "./http/pages/dashboard.js";
import { createRequestListener } from "./http/router.js";
import { exportRoutes } from "./rest/exports.routes.js";
import { describeApi, describeServer } from "./rest/openapi/document.js";
import { type PreparedRest, prepareRest } from "./rest/prepare.js";
import type { Channel } from "./cluster/channel.js";
import { startSweep, type Sweep } from "./lib/sweep.js";
import { createTelemetry } from "./telemetry/telemetry.js";
import type { Tracing } from "./telemetry/tracing.js";

const sweepEveryMs = 300_000;
/** Rounds vary by half: 10 seconds after a show or a minute has ended, its totals are folded. */
const foldEveryMs = 5_000;
/** How often the sweep looks whether an hour is over; the first round comes within a minute of the start. */
const retentionEveryMs = 30_000;

/** The whole service; it opens no port. */
export interface App {
  /** For node:http's createServer. */
  readonly handler: RequestListener;
  /** To be notified of changes that are made without a request. */
  readonly feed: LiveFeed;
  /** From now on, pages fill in this token for browsers on this machine, except in production. */
  showDemoToken(token: string): void;
  /** From now on, `/demo` is this shop. */
  showDemoShop(shop: DemoShop): void;
  /** Closes all but the database, streams to clients first. @param timeoutMs for the last traces; 1 second by default */
  close(timeoutMs?: number): Promise<void>;
}

export interface AppOptions {
  /** Connects a worker with the others, where there is no Redis. */
  readonly primary?: Channel;
  /** Apps of one process may share it. */
  readonly rest?: Promise<PreparedRest>;
}

/** Assembles the service, with all work that can be done before the first request. */
export async function createApp(
  config: Config,
  database: OpenDatabase,
  log: Logger,
  options: AppOptions = {},
): Promise<App> {
  const { primary, rest: preparedRest = prepareRest(schema) } = options;
  const { view, operations, openApi, handler: rest } = await preparedRest;
  const known = createKnownOperations(schema);
  const subscriptions = createKnownSubscriptions(schema);
  const gateway = createGateway(known, subscriptions, {
    suggestions: !config.production,
    plugins: [gatewayCompression],
  });
  const persisted = await openPersistedOperations(config, known);
  const tracing = await openTracing(config, database, log);
  // From here on there are open connections, which must be closed where the app cannot be created.
  const rateLimits = await openRateLimits(config, log, primary);
  const feed = await openFeed(config, database, log, primary);
  const share = primary && shareMetrics.bind(undefined, primary);
  const telemetry = createTelemetry({ log, sources: { feed, database }, tracing, share });
  const sweeps = startSweeps(config, database, log);
  const close = async (timeoutMs = 1_000): Promise<void> => {
    await Promise.all([...sweeps.map((sweep) => sweep.stop()), feed.close()]);
    await gateway.dispose();
    rateLimits.count.close();
    await telemetry.close(timeoutMs);
  };
  let demoToken: string | undefined;
  let demoShop: DemoShop | undefined;
  try {
    const api = describeApi({ derived: openApi, view, routes: operations, exports: exportRoutes, limits: config });
    const handler = createRequestListener({
      config,
      db: database.client,
      readiness: database.readiness,
      log,
      identify: createIdentify(database.client),
      findKey: createFindKey(database.client),
      rateLimits,
      feed,
      telemetry,
      gateway,
      fastPath: createFastPath(known),
      openEventStream: createEventStreams(subscriptions),
      persisted,
      rest,
      writeOpenApi: (serverUrl) => JSON.stringify(describeServer(api, serverUrl)),
      demoToken: () => demoToken,
      demoShop: () => demoShop,
    });
    const showDemoToken = (token: string): void => {
      if (!config.production) demoToken = token;
    };
    const showDemoShop = (shop: DemoShop): void => void (demoShop = shop);
    return { handler, feed, showDemoToken, showDemoShop, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** What is done in the background. Each round that fails is logged, and tried again. */
function startSweeps({ eventRetentionDays }: Config, { client }: OpenDatabase, log: Logger): readonly Sweep[] {
  const sweep = (everyMs: number, failure: string, work: (signal: AbortSignal) => Promise<void>) =>
    startSweep({ everyMs, work, onError: (error) => log.warn({ err: error }, `${failure}; retrying later`) });
  return [
    sweep(sweepEveryMs, "Expired idempotency keys could not be removed", createKeySweep(client)),
    sweep(foldEveryMs, "Totals could not be folded", (signal) => foldDue(client, signal)),
    ...(eventRetentionDays === 0
      ? []
      : [sweep(retentionEveryMs, "Old events could not be removed", createRetentionSweep(client, eventRetentionDays))]),
  ];
}

/** Traces, where a collector is configured. Otherwise OpenTelemetry is not loaded. */
async function openTracing(config: Config, { probe }: OpenDatabase, log: Logger): Promise<Tracing | undefined> {
  const { otlpEndpoint: endpoint, otelServiceName: serviceName } = config;
  if (endpoint === undefined) return undefined;
  const { createTracing } = await import("./telemetry/tracing.js");
  const tracing = createTracing({ endpoint, serviceName }, (problem) =>
    log.warn({ err: problem.message }, "The collector of traces fails: until it is back, traces are lost"),
  );
  probe.aroundQuery = tracing.aroundQuery;
  return tracing;
}

async function openPersistedOperations(
  { persistedOperations: path, persistedOperationsOnly: only }: Config,
  known: KnownOperations,
): Promise<PersistedOperations | undefined> {
  if (path === undefined) return undefined;
  const documents = await readPersistedOperations(path, schema, known);
  const ownTexts = only ? await readDashboardOperations() : [];
  return createPersistedOperations({ documents, only, ownTexts });
}

/** Counts in Redis or else in the primary, where calls are limited. */
async function openRateLimits(config: Config, log: Logger, primary: Channel | undefined): Promise<RateLimits> {
  const policies = policiesOf(config);
  if (Object.keys(policies).length === 0) return { policies, count: createLocalCounter() };
  const warn = (who: string) => (problem: Error) =>
    log.warn({ err: problem.message }, `${who} fails: until it is back, this process counts calls on its own`);
  if (config.redisUrl !== undefined) {
    return { policies, count: await openRedisCounter(config.redisUrl, warn("Redis")) };
  }
  return {
    policies,
    count: primary === undefined ? createLocalCounter() : createPrimaryCounter(primary, warn("The primary process")),
  };
}

/** The live feed. It reaches clients of other processes through Redis, or else through the database and the primary. */
async function openFeed(
  config: Config,
  database: OpenDatabase,
  log: Logger,
  primary: Channel | undefined,
): Promise<LiveFeed> {
  const read = (storeId: string, lsId: string) =>
    readAnalytics(forStore(database.client, storeId), storeId, lsId).catch((error: unknown) =>
      Promise.reject(mapDatabaseError(error) as Error),
    );
  return createLiveFeed({ read, relay: await openRelay(config, database, log, primary) });
}

async function openRelay(
  config: Config,
  database: OpenDatabase,
  log: Logger,
  primary: Channel | undefined,
): Promise<FeedRelay> {
  const warn = (what: string) => (problem: Error) =>
    log.warn({ err: problem.message }, `${what}: until it is back, live figures reach clients of one process only`);
  const { redisUrl } = config;
  if (redisUrl !== undefined) return openRedisRelay(redisUrl, warn("Redis fails"));
  const overDatabase = createDatabaseRelay(database, config, warn("The channel of changes over the database fails"));
  const relays = [overDatabase, primary && createPrimaryRelay(primary)];
  return combineRelays(relays.filter((relay) => relay !== undefined));
}
