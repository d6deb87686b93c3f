import { performance } from "node:perf_hooks";
import { AggregatorRegistry, collectDefaultMetrics, Gauge, prometheusContentType, Registry } from "prom-client";

/** prom-client's JSON, which can be sent to another process. */
export interface MetricValues {
  readonly name: string;
  readonly help: string;
  /** Such as `counter`. prom-client declares a wrong type for it. */
  readonly type: unknown;
  readonly aggregator: string;
  readonly values: readonly { readonly value: number; readonly labels: object }[];
}

export const metricsMediaType = prometheusContentType;

/** Gauges whose names look like counters. */
const misnamed = ["nodejs_active_resources_total", "nodejs_active_handles_total", "nodejs_active_requests_total"];

const processRegistry = new Registry();
let isCollecting = false;

/** prom-client's default metrics. */
export function collectProcessMetrics(): void {
  if (isCollecting) return; // prom-client cannot stop collecting
  isCollecting = true;
  collectDefaultMetrics({ register: processRegistry });
  for (const name of misnamed) processRegistry.removeSingleMetric(name);
  collectUtilization(processRegistry);
}

/** The metrics of this process. Those of the event loop cover the time since the last call. */
export async function processMetrics(): Promise<MetricValues[]> {
  const metrics: MetricValues[] = await processRegistry.getMetricsAsJSON();
  return metrics.map((metric) => ({
    ...metric,
    aggregator: aggregatorOf(metric),
    values: metric.values.filter(({ value }) => Number.isFinite(value)), // the event loop may have no samples
  }));
}

/** prom-client's aggregator, except where it would mislead. */
function aggregatorOf({ name, aggregator }: MetricValues): string {
  if (name === "process_start_time_seconds") return "min";
  return name.startsWith("nodejs_eventloop_lag") && aggregator === "average" ? "max" : aggregator;
}

function collectUtilization(registry: Registry): void {
  let last = performance.eventLoopUtilization();
  const gauge: Gauge = new Gauge({
    name: "nodejs_eventloop_utilization_ratio",
    help: "Share of time since the last scrape in which the event loop of the busiest process was busy.",
    aggregator: "max",
    registers: [registry],
    collect: () => {
      const now = performance.eventLoopUtilization();
      gauge.set(performance.eventLoopUtilization(now, last).utilization);
      last = now;
    },
  });
}

/** Aggregates metrics of several processes, most by their sum. */
export async function aggregate(parts: readonly (readonly MetricValues[])[]): Promise<MetricValues[]> {
  return registryOf(parts).getMetricsAsJSON();
}

/** Like aggregate, in the Prometheus text format. */
export async function aggregateAsText(parts: readonly (readonly MetricValues[])[]): Promise<string> {
  return registryOf(parts).metrics();
}

function registryOf(parts: readonly (readonly MetricValues[])[]): Registry {
  return AggregatorRegistry.aggregate([...parts] as object[]);
}
