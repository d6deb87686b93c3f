import { tmpdir } from "node:os";
import { join } from "node:path";
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { PoolConfig } from "pg";
import type { PolicyName } from "../../schema/limits/policies.js";
import type { LiveFeed } from "../../schema/context.js";
import type { OpenDatabase } from "../../database/open.js";
import { CachedFor } from "../../lib/cached.js";
import { packageVersion } from "../../lib/packageFiles.js";
import { proxyAddresses, untrustedProxies } from "./proxyMetricNames.js";
import type { FairShare } from "../../lib/fairShare.js";
import { foldersOf } from "../../database/embedded/folder.js";
import { freeBytes, sizeOfFolder } from "../../lib/disk.js";
import { type NodeState, readNodeStates } from "../../database/citus/nodeStates.js";

const policyNames: readonly PolicyName[] = ["analytics", "product", "collect", "subscription"];

/** Labels only have values from the code or the schema, so their number is bounded. */
export type Metrics = ReturnType<typeof createMetrics>;

export interface MetricSources {
  readonly feed: Pick<LiveFeed, "watchers">;
  readonly database: Pick<OpenDatabase, "probe" | "engine" | "connection">;
  /** Bytes that they hold. */
  readonly bodies: { readonly held: number };
  readonly places: CountedShares;
  /** The folder of the embedded database; undefined on PostgreSQL. */
  readonly dataDir: string | undefined;
}

const requestBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const importBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800];

export function createMetrics(sources: MetricSources) {
  const registry = new Registry();
  const registers = [registry];
  const counter = <Label extends string = never>(name: string, help: string, ...labelNames: Label[]) =>
    new Counter<Label>({ name: `vitrine_${name}_total`, help, labelNames, registers });
  const histogram = <Label extends string = never>(
    name: string,
    help: string,
    buckets: number[],
    ...labelNames: Label[]
  ) => new Histogram<Label>({ name: `vitrine_${name}_duration_seconds`, help, buckets, labelNames, registers });
  collectSources(registry, sources);
  const limited = counter("rate_limited", "Calls refused by a rate limit.", "policy");
  for (const policy of policyNames) limited.inc({ policy }, 0); // if a series starts at 1, Prometheus does not see its first increase
  const requestsHelp = "Duration of HTTP requests in seconds, by method, route and status class.";
  const operationsHelp = "Root fields requested, by the outcome of their operation.";
  const deliveriesHelp = "Signed deliveries of orders by shop systems, by outcome.";
  const eventsHelp = "Shopper events, by whether they are new or duplicates.";
  return {
    registry,
    limited,
    requests: histogram("http_request", requestsHelp, requestBuckets, "method", "route", "status"),
    operations: counter("operations", operationsHelp, "style", "field", "outcome"),
    importedProducts: counter("imported_products", "Products stored by imports."),
    imports: histogram("import", "Duration of successful imports in seconds.", importBuckets),
    bots: counter("collect_bots", "Requests of bots to /collect/v1, which store nothing."),
    deliveries: counter("hook_deliveries", deliveriesHelp, "system", "outcome"),
    ofProxies: new Counter({
      name: proxyAddresses,
      help: "Requests to /collect/v1 that were counted by the address of a proxy instead of their client.",
      registers,
    }),
    untrusted: new Counter({
      name: untrustedProxies,
      help: "Processes that received requests through a proxy while TRUST_PROXY was 0.",
      registers,
    }),
    events: counter("shopper_events", eventsHelp, "result"),
  };
}

/** Metrics that are read at scrapes. */
function collectSources(registry: Registry, { feed, bodies, places, dataDir, database }: MetricSources): void {
  const { probe, engine, connection } = database;
  const registers = [registry];
  const build = new Gauge({
    name: "vitrine_build_info",
    help: "Always 1; its labels are the versions of Vitrine and Node.js, and the database engine.",
    labelNames: ["version", "node_version", "engine"],
    aggregator: "max", // of workers
    registers,
  });
  const engineName = engine.kind === "embedded" ? "embedded" : "postgresql";
  build.set({ version: packageVersion(), node_version: process.version, engine: engineName }, 1);
  const gauge = (name: string, help: string, read: () => number) => {
    const made: Gauge = new Gauge({ name, help, registers, collect: () => made.set(read()) });
  };
  gauge("vitrine_live_subscriptions", "Live subscriptions that are open.", () => feed.watchers);
  gauge("vitrine_database_connections", "Open connections to the database.", () => probe.pool.totalCount);
  gauge("vitrine_database_connections_idle", "Idle connections to the database.", () => probe.pool.idleCount);
  gauge("vitrine_database_waiting", "Calls that wait for a database connection.", () => probe.waiting());
  gauge("vitrine_body_bytes", "Bytes of memory that long request bodies hold.", () => bodies.held);
  addShareGauges(registry, places);
  collectStorage(registry, dataDir);
  if (engine.kind !== "embedded") collectNodes(registry, connection);
}

/** Places that requests take and release, by kind, which is the value of a label. */
type CountedShares = Readonly<Record<string, Pick<FairShare, "places" | "held" | "waiting">>>;

/** A place that is held although there are no callers has been lost. */
function addShareGauges(registry: Registry, places: CountedShares): void {
  const gauge = (name: string, help: string, of: "places" | "held" | "waiting") => {
    const collect = (): void => Object.entries(places).forEach(([kind, share]) => made.set({ kind }, share[of]));
    const made = new Gauge({ name, help, labelNames: ["kind"], registers: [registry], collect });
  };
  gauge("vitrine_places", "Places that requests may hold, by kind of work.", "places");
  gauge("vitrine_places_held", "Places that requests hold.", "held");
  gauge("vitrine_places_waiting", "Requests that wait for a place.", "waiting");
}

/**
 * Free space of the folders that Vitrine writes to, and the size of the embedded database's write-ahead log. A value that cannot be
 * read has no series.
 *
 * @param dataDir of the embedded database; undefined on PostgreSQL
 */
function collectStorage(registry: Registry, dataDir: string | undefined): void {
  const folders = { ...(dataDir !== undefined && { data: dataDir }), temporary: tmpdir() };
  const free: Gauge<"folder"> = new Gauge({
    name: "vitrine_free_bytes",
    help: "Free space of the folders that Vitrine writes to.",
    labelNames: ["folder"],
    aggregator: "min", // all workers see the same folders
    registers: [registry],
    async collect() {
      for (const [folder, path] of Object.entries(folders)) {
        const bytes = await freeBytes(path).catch(() => undefined);
        if (bytes === undefined) free.remove({ folder });
        else free.set({ folder }, bytes);
      }
    },
  });
  if (dataDir === undefined) return;
  const log = join(foldersOf(dataDir).database, "pg_wal");
  const size: Gauge = new Gauge({
    name: "vitrine_database_log_bytes",
    help: "Size of the write-ahead log of the embedded database.",
    aggregator: "max",
    registers: [registry],
    async collect() {
      const bytes = await sizeOfFolder(log).catch(() => undefined);
      if (bytes === undefined) size.remove();
      else size.set(bytes);
    },
  });
}

const trustMs = 10_000;

/** Shorter than a second, for which the primary waits for its workers. Later replies are for the next scrape. */
const waitMs = 500;

/** Asks the nodes of Citus at scrapes, at most every ten seconds. Without Citus, only asks once. */
export function collectNodes(registry: Registry, connection: PoolConfig): void {
  const latest = latestStates(connection);
  const gauge = (name: string, help: string, value: (state: NodeState) => number | undefined) => {
    const made: Gauge<"node"> = new Gauge({
      name,
      help,
      labelNames: ["node"],
      aggregator: "max", // each worker asks all nodes
      registers: [registry],
      collect: async () => {
        const states = await latest();
        made.reset();
        for (const state of states) {
          const of = value(state);
          if (of !== undefined) made.set({ node: state.node }, of);
        }
      },
    });
  };
  gauge("vitrine_citus_node_up", "Whether a node of Citus answers.", ({ found }) => (found === undefined ? 0 : 1));
  gauge("vitrine_citus_node_connections", "Connections to a node of Citus.", ({ found }) => found?.connections);
  gauge(
    "vitrine_citus_node_prepared_transactions",
    "Transactions on a node of Citus that were prepared more than a minute ago.",
    ({ found }) => found?.preparedLong,
  );
  gauge(
    "vitrine_citus_node_idle_replication_slots",
    "Inactive replication slots of shard moves on a node of Citus.",
    ({ found }) => found?.idleSlots,
  );
}

function latestStates(connection: PoolConfig): () => Promise<readonly NodeState[]> {
  let states: readonly NodeState[] = [];
  let hasNodes = true;
  const latest = new CachedFor<readonly NodeState[]>(trustMs, 1);
  const refresh = async (): Promise<readonly NodeState[]> => {
    const found = await readNodeStates(connection).catch(() => []); // the database cannot be asked: no node counts as well
    hasNodes = found !== undefined;
    return (states = found ?? []);
  };
  return async () => {
    const waiting = new Promise((resolve) => setTimeout(resolve, waitMs).unref());
    if (hasNodes) await Promise.race([latest.get("", refresh), waiting]);
    return states;
  };
}
