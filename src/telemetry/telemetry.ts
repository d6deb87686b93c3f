import type { IncomingMessage, ServerResponse } from "node:http";
import type { Logger } from "pino";
import { graphqlPath } from "../graphql/gateway.js";
import type { Channel } from "../cluster/channel.js";
import { logAccess } from "./accessLog.js";
import { expose, processFigures, watchProcess } from "./exposition.js";
import { createMetrics, type MetricSources } from "./metrics.js";
import { RequestObservation } from "./requestObservation.js";
import { openScrapeChannel } from "../cluster/metrics.js";
import type { Tracing } from "./tracing.js";
import { type Summary, summarize } from "./summary.js";

/** What the service lets others see of its work. */
export interface Telemetry {
  /** Follows a request until it is answered, or its client is gone. */
  observe(request: IncomingMessage, response: ServerResponse, requestId: string): RequestObservation;
  /** All metrics in Prometheus' text format, of all workers where there are several. Rejects when they cannot be had in time. */
  scrape(): Promise<string>;
  /** Sends the traces that are left; gives up after so long. */
  close(timeoutMs: number): Promise<void>;
}

interface Options {
  readonly log: Logger;
  readonly sources: MetricSources;
  readonly tracing: Tracing | undefined;
  /** To the primary, in a worker. */
  readonly primary: Channel | undefined;
}

/** Watches one app. */
export function createTelemetry({ log, sources, tracing, primary }: Options): Telemetry {
  const metrics = createMetrics(sources);
  watchProcess();
  const own = async () => [...(await metrics.registry.getMetricsAsJSON()), ...(await processFigures())];
  const channel = primary && openScrapeChannel(primary, own);
  const write = logAccess(log);

  const finish = (observation: RequestObservation, request: IncomingMessage, response: ServerResponse): void => {
    const summary = summarize(observation, request, response);
    const { method, route, statusClass, ms } = summary;
    metrics.requests.observe({ method, route, status: statusClass }, ms / 1_000);
    countUnended(observation, summary);
    write(observation, summary, response);
    observation.span?.end(observation, summary);
  };

  /** Operations that did not tell their end: subscriptions, and those that were refused before they had a name. */
  const countUnended = ({ names, code, route }: RequestObservation, { outcome }: Summary): void => {
    const isUnread = names === undefined && code !== undefined && route === graphqlPath;
    const fields = isUnread ? ["other"] : names?.kind === "subscription" ? names.fields : [];
    for (const field of fields) metrics.operations.inc({ style: "graphql", field, outcome });
  };

  return {
    observe(request, response, requestId) {
      const observation = new RequestObservation(requestId, request, metrics, tracing);
      response.on("close", () => finish(observation, request, response));
      return observation;
    },
    scrape: async () => (channel === undefined ? expose([await own()]) : channel.scrape()),
    async close(timeoutMs) {
      await Promise.all([channel?.close(), tracing?.close(timeoutMs)]);
    },
  };
}
