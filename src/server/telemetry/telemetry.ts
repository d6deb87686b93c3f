import type { IncomingMessage, ServerResponse } from "node:http";
import type { Logger } from "pino";
import type { PolicyName } from "../../schema/limits/policies.js";
import type { ErrorCode } from "../../errors.js";
import type { Execution, Observation, OperationNames } from "../../schema/operationNames.js";
import { type Metrics, createMetrics, type MetricSources } from "./metrics.js";
import type { RequestSpan, Tracing } from "./tracing.js";
import { onResponseEnd } from "../../lib/streams/responseEnd.js";
import { graphqlPath } from "../../api/graphql/gateway.js";
import { aggregateAsText, collectProcessMetrics, type MetricValues, processMetrics } from "./exposition.js";

const methods = new Set(["GET", "HEAD", "POST", "DELETE", "OPTIONS", "PUT", "PATCH"]);

const statusClasses = ["none", "1xx", "2xx", "3xx", "4xx", "5xx"] as const;

const probes: ReadonlySet<string> = new Set(["/healthz", "/readyz", "/metrics"]);

/** What is observed while a request is handled. `summarize` reads it for log and metrics. */
export class RequestObservation implements Observation {
  readonly startedAt = performance.now();
  /** The path pattern, with names of parameters. */
  route = "other";
  storeId: string | undefined;
  names: OperationNames | undefined;
  execution: Execution | undefined;
  code: ErrorCode | undefined;
  readonly span: RequestSpan | undefined;
  private isReplay = false;

  constructor(
    readonly requestId: string,
    request: IncomingMessage,
    private readonly metrics: Metrics,
    private readonly tracing: Tracing | undefined,
  ) {
    this.span = tracing?.begin(request);
  }

  /** Runs the request's handler, within the request's span. */
  handle(work: () => Promise<void>): Promise<void> {
    return this.span === undefined ? work() : this.span.run(work);
  }

  begins(names: OperationNames, execution?: Execution): void {
    this.names = names;
    this.execution = execution;
  }

  ended({ style, fields }: OperationNames, code: ErrorCode | undefined): void {
    if (code !== undefined) this.code = code;
    for (const field of fields) this.metrics.operations.inc({ style, field, outcome: code ?? "ok" });
  }

  refused(code: ErrorCode): void {
    this.code = code;
  }

  limited(policy: PolicyName): void {
    this.metrics.limited.inc({ policy });
  }

  within<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
    return this.tracing === undefined ? work() : this.tracing.within(name, work);
  }

  async importing<Result extends { readonly imported: number }>(work: () => Promise<Result>): Promise<Result> {
    const { imports, importedProducts } = this.metrics;
    const startedAt = performance.now();
    this.isReplay = false; // mutations of a request run one after the other
    const result = await this.within("import", work);
    if (this.isReplay) return result;
    imports.observe((performance.now() - startedAt) / 1_000);
    importedProducts.inc(result.imported);
    return result;
  }

  replayed(): void {
    this.isReplay = true;
  }

  /** A bot reported events, which we do not store. */
  bot(): void {
    this.metrics.bots.inc();
  }

  /** A shop system delivered something to a hook. */
  delivered(system: string, outcome: "stored" | "ignored" | "unknown_topic" | "unusable"): void {
    this.metrics.deliveries.inc({ system, outcome });
  }

  /** A request to /collect/v1 was counted by the address of a proxy. */
  ofProxy(): void {
    this.metrics.ofProxies.inc();
  }

  async recording<Result extends { readonly accepted: number; readonly duplicates: number }>(
    work: () => Promise<Result>,
  ): Promise<Result> {
    const receipt = await this.within("record events", work);
    this.metrics.events.inc({ result: "accepted" }, receipt.accepted);
    this.metrics.events.inc({ result: "duplicate" }, receipt.duplicates);
    return receipt;
  }
}

interface Observed {
  readonly requestId: string;
  readonly startedAt: number;
  /** The path pattern; `other` if none matched. */
  readonly route: string;
  readonly storeId: string | undefined;
  readonly names: OperationNames | undefined;
  /** Undefined for requests that execute no operation. */
  readonly execution: Execution | undefined;
  readonly code: ErrorCode | undefined;
}

export interface Summary extends Pick<Observed, "requestId" | "route" | "storeId" | "names" | "execution" | "code"> {
  readonly method: string;
  /** 0 if the client disconnected before a response. */
  readonly status: number;
  readonly statusClass: string;
  /** `ok`, an error code, or `aborted` if the client disconnected. */
  readonly outcome: string;
  /** From the request's headers to the last byte of the response. */
  readonly ms: number;
}

/** Subscriptions get a separate route, because their duration says nothing. */
function summarize(
  { requestId, startedAt, route, storeId, names, execution, code }: Observed,
  { method = "", socket }: IncomingMessage,
  { headersSent, statusCode, writableFinished }: ServerResponse,
): Summary {
  const status = headersSent ? statusCode : 0;
  const isWhole = writableFinished && socket.errored === null; // Node.js also reports "finished" if writing failed
  const isStream = names?.kind === "subscription" && headersSent;
  return {
    requestId,
    storeId,
    names,
    execution,
    code,
    method: methods.has(method) ? method : "other",
    route: isStream ? `${route} (subscription)` : route,
    status,
    statusClass: statusClasses[Math.trunc(status / 100)] ?? "none",
    outcome: isWhole || isStream ? (code ?? "ok") : "aborted",
    ms: performance.now() - startedAt,
  };
}

/** Of what the caller sent, the line only contains the request's id. */
type WriteAccess = (summary: Summary, traceId: string | undefined, response: ServerResponse) => void;

/** Logs a line for each request, at level info, or debug for probes. */
function logAccess(log: Logger): WriteAccess {
  const logsProbes = log.isLevelEnabled("debug");
  if (!log.isLevelEnabled("info")) return () => undefined;
  return ({ requestId, storeId, names, execution, method, route, status, outcome, ms }, traceId, response) => {
    const isProbe = probes.has(route);
    if (isProbe && !logsProbes) return;
    const line = {
      requestId,
      traceId,
      store: storeId,
      method,
      route,
      operation: names?.label,
      execution,
      status,
      outcome,
      ms: Math.round(ms * 1_000) / 1_000,
      bytes: Number(response.getHeader("content-length")) || undefined,
    };
    if (isProbe) log.debug(line, "request");
    else log.info(line, "request");
  };
}

export interface Telemetry {
  observe(request: IncomingMessage, response: ServerResponse, requestId: string): RequestObservation;
  /** A request came through a proxy although none is trusted. */
  noteUntrustedProxy(): void;
  /** The metrics of all workers in the Prometheus text format. Rejects when they cannot be collected in time. */
  scrape(): Promise<string>;
  /** Sends the remaining traces, for at most `timeoutMs`. */
  close(timeoutMs: number): Promise<void>;
}

/** The metrics of all processes of one service. */
export interface SharedMetrics {
  scrape(): Promise<string>;
  /** Sends the counters of this process to the primary, if it was ever scraped. */
  close(): Promise<void>;
}

interface Options {
  readonly log: Logger;
  readonly sources: MetricSources;
  readonly tracing: Tracing | undefined;
  /** Shares metrics with other processes; undefined if this process serves alone. */
  readonly share: ((own: () => Promise<MetricValues[]>) => SharedMetrics) | undefined;
}

export function createTelemetry({ log, sources, tracing, share }: Options): Telemetry {
  const metrics = createMetrics(sources);
  collectProcessMetrics();
  const own = async () => {
    const ofProcess = await processMetrics(); // first, because what other metrics wait for would count as active resources
    return [...(await metrics.registry.getMetricsAsJSON()), ...ofProcess];
  };
  const shared = share?.(own);
  const logRequest = logAccess(log);

  const finish = (observation: RequestObservation, request: IncomingMessage, response: ServerResponse): void => {
    const summary = summarize(observation, request, response);
    const { method, route, statusClass, ms } = summary;
    metrics.requests.observe({ method, route, status: statusClass }, ms / 1_000);
    countUnended(observation.route, summary);
    logRequest(summary, observation.span?.traceId, response);
    observation.span?.end(summary);
  };

  /** Counts subscriptions, and operations that were refused before they had a name. */
  const countUnended = (route: string, { names, code, outcome }: Summary): void => {
    const isUnnamed = names === undefined && code !== undefined && route === graphqlPath;
    const fields = isUnnamed ? ["other"] : names?.kind === "subscription" ? names.fields : [];
    for (const field of fields) metrics.operations.inc({ style: "graphql", field, outcome });
  };

  return {
    observe(request, response, requestId) {
      const observation = new RequestObservation(requestId, request, metrics, tracing);
      onResponseEnd(response, () => finish(observation, request, response));
      return observation;
    },
    noteUntrustedProxy: () => metrics.untrusted.inc(),
    scrape: async () => shared?.scrape() ?? aggregateAsText([await own()]),
    async close(timeoutMs) {
      await Promise.all([shared?.close(), tracing?.close(timeoutMs)]);
    },
  };
}
