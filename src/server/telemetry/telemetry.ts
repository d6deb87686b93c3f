import type { IncomingMessage, ServerResponse } from "node:http";
import type { Logger } from "pino";
import { onResponseEnd } from "../../lib/streams/responseEnd.js";
import { graphqlPath } from "../../api/graphql/gateway.js";
import { logAccess, RequestObservation, summarize, type Summary } from "./requestObservation.js";
import { aggregateAsText, collectProcessMetrics, type MetricValues, processMetrics } from "./exposition.js";
import { createMetrics, type MetricSources } from "./metrics.js";
import type { Tracing } from "./tracing.js";

export interface Telemetry {
  observe(request: IncomingMessage, response: ServerResponse, requestId: string): RequestObservation;
  /** A request came through a proxy while none is trusted. */
  noteUntrustedProxy(): void;
  /** The metrics of all workers in the Prometheus text format. Rejects when they cannot be collected in time. */
  scrape(): Promise<string>;
  /** Sends the remaining traces, for `timeoutMs` at most. */
  close(timeoutMs: number): Promise<void>;
}

/** The metrics of all processes of one service. */
export interface SharedMetrics {
  scrape(): Promise<string>;
  /** Hands over the counters of this process, if there are scrapes. */
  close(): Promise<void>;
}

interface Options {
  readonly log: Logger;
  readonly sources: MetricSources;
  readonly tracing: Tracing | undefined;
  /** Shares metrics with other processes; undefined where this one serves alone. */
  readonly share: ((own: () => Promise<MetricValues[]>) => SharedMetrics) | undefined;
}

export function createTelemetry({ log, sources, tracing, share }: Options): Telemetry {
  const metrics = createMetrics(sources);
  collectProcessMetrics();
  const own = async () => {
    const ofProcess = await processMetrics(); // first, since what the others wait for would count among its active resources
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

  /** Subscriptions, and operations refused before they had a name. */
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
