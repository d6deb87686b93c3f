import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { PolicyName } from "../access/rateLimits/rateLimit.js";
import type { LiveFeed } from "../analytics/feed/feed.js";
import type { OpenDatabase } from "../database/open.js";
import { packageVersion } from "../lib/packageFiles.js";
import { collectNodes } from "./nodes.js";
import { proxyAddresses } from "./proxyAddresses.js";
import { collectPlaces, type Places } from "./places.js";
import { collectStorage } from "./storage.js";

const policyNames: readonly PolicyName[] = ["analytics", "product", "collect", "subscription"];

/** Labels only take values from the code or the schema, so that their number is bounded. */
export type Metrics = ReturnType<typeof createMetrics>;

export interface MetricSources {
  readonly feed: Pick<LiveFeed, "watchers">;
  readonly database: Pick<OpenDatabase, "probe" | "engine" | "connection">;
  /** Bytes that they hold. */
  readonly bodies: { readonly held: number };
  readonly places: Places;
  /** Of the embedded database, if that is used. */
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
  for (const policy of policyNames) limited.inc({ policy }, 0); // a series that starts at 1 hides its first increase
  const requestsHelp = "Duration of HTTP requests in seconds, by method, route and status class.";
  const operationsHelp = "Root fields requested, by the outcome of their operation.";
  const deliveriesHelp = "Signed deliveries of orders by shop systems, by what became of them.";
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
      help: "Requests to /collect/v1 that are limited by the address of a proxy, not of their client.",
      registers,
    }),
    events: counter("shopper_events", eventsHelp, "result"),
  };
}

/** What is read at scrapes. */
function collectSources(registry: Registry, { feed, bodies, places, dataDir, database }: MetricSources): void {
  const { probe, engine, connection } = database;
  const registers = [registry];
  const build = new Gauge({
    name: "vitrine_build_info",
    help: "Always 1; its labels say what runs: the versions of Vitrine and Node.js, and the database engine.",
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
  collectPlaces(registry, places);
  collectStorage(registry, dataDir);
  if (engine.kind !== "embedded") collectNodes(registry, connection);
}
