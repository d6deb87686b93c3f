import { performance } from "node:perf_hooks";
import { AggregatorRegistry, collectDefaultMetrics, Gauge, prometheusContentType, Registry } from "prom-client";

/** A metric at one moment, as prom-client writes it in JSON; it can be sent to another process. */
export interface Figure {
  readonly name: string;
  readonly help: string;
  /** `counter` and the like; prom-client's own type for it is wrong. */
  readonly type: unknown;
  readonly aggregator: string;
  readonly values: readonly { readonly value: number; readonly labels: object }[];
}

export const metricsMediaType = prometheusContentType;

const processRegistry = new Registry();
let isWatched = false;

/** Begins to watch what the process is doing: CPU, memory, garbage collection, event loop. */
export function watchProcess(): void {
  if (isWatched) return; // it cannot be stopped
  isWatched = true;
  collectDefaultMetrics({ register: processRegistry });
  watchUtilization(processRegistry);
}

/** What was seen of the process; of the event loop, since the last time somebody asked. */
export async function processFigures(): Promise<Figure[]> {
  const figures: Figure[] = await processRegistry.getMetricsAsJSON();
  return figures.map((figure) => ({
    ...figure,
    aggregator: aggregatorOf(figure),
    values: figure.values.filter(({ value }) => Number.isFinite(value)), // nothing may have been seen of the event loop
  }));
}

/** How the same figure of several processes is made one, where that is not as prom-client has it. */
function aggregatorOf({ name, aggregator }: Figure): string {
  if (name === "process_start_time_seconds") return "min";
  return name.startsWith("nodejs_eventloop_lag") && aggregator === "average" ? "max" : aggregator;
}

function watchUtilization(registry: Registry): void {
  let last = performance.eventLoopUtilization();
  const gauge: Gauge = new Gauge({
    name: "nodejs_eventloop_utilization_ratio",
    help: "Share of the time since the last scrape in which the event loop was busy; that of the busiest process.",
    aggregator: "max",
    registers: [registry],
    collect: () => {
      const now = performance.eventLoopUtilization();
      gauge.set(performance.eventLoopUtilization(now, last).utilization);
      last = now;
    },
  });
}

/** The figures of several processes, or of several parts of one, put together: most are added up. */
export async function combine(parts: readonly (readonly Figure[])[]): Promise<Figure[]> {
  return registryOf(parts).getMetricsAsJSON();
}

/** Likewise, in the text format of Prometheus. */
export async function expose(parts: readonly (readonly Figure[])[]): Promise<string> {
  return registryOf(parts).metrics();
}

function registryOf(parts: readonly (readonly Figure[])[]): Registry {
  return AggregatorRegistry.aggregate([...parts] as object[]);
}
