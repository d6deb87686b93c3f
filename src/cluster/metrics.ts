import { withTimeout } from "../lib/timeout.js";
import {
  aggregate,
  aggregateAsText,
  collectProcessMetrics,
  type MetricValues,
  processMetrics,
} from "../telemetry/exposition.js";
import type { SharedMetrics } from "../telemetry/telemetry.js";
import type { Channel } from "./channel.js";

const workerTimeoutMs = 1_000;
const primaryTimeoutMs = 3_000;

/** In the primary: answers scrapes of any worker. */
export interface MetricsCollector {
  /** @param ended settles when the worker has ended */
  onSpawn(channel: Channel, ended: Promise<unknown>): void;
}

interface WorkerMetrics {
  latest: readonly MetricValues[] | undefined;
  onReply: () => void;
}

/**
 * Counters must be monotonic: Prometheus reads a decrease as a reset. So those of a worker that does not reply are
 * taken from its last reply, and those of ended workers are kept. prom-client's clusterMetrics does neither.
 */
export function createMetricsCollector(timeoutMs: number = workerTimeoutMs): MetricsCollector {
  collectProcessMetrics();
  const workers = new Map<Channel, WorkerMetrics>();
  const ended = keepCounters();
  let pending: Promise<string> | undefined;

  const replies = async (channel: Channel, worker: WorkerMetrics): Promise<boolean> => {
    const reply = new Promise<void>((resolve) => (worker.onReply = resolve));
    channel.send("collect");
    return withTimeout(reply, timeoutMs, "A worker").then(
      () => true,
      () => false,
    );
  };

  const collect = async (): Promise<string> => {
    const queried = [...workers];
    const kept = ended.counters();
    const hasReplied = await Promise.all(queried.map(([channel, worker]) => replies(channel, worker)));
    const parts = queried.map(([, { latest = [] }], index) => (hasReplied[index] ? latest : countersOf(latest)));
    const silent = hasReplied.filter((replied) => !replied).length;
    return aggregateAsText([...parts, ...kept, await processMetrics(), poolMetrics(queried.length, silent)]);
  };

  const answer = (channel: Channel): void => {
    pending ??= collect().finally(() => (pending = undefined));
    pending.then(
      (text) => channel.send("scraped", text),
      () => channel.send("scraped"),
    );
  };

  const remove = (channel: Channel): void => {
    const latest = workers.get(channel)?.latest;
    workers.delete(channel);
    if (latest !== undefined) ended.add(countersOf(latest));
  };

  return {
    onSpawn(channel, untilEnded) {
      const worker: WorkerMetrics = { latest: undefined, onReply: () => undefined };
      channel.on("metrics", (metrics: readonly MetricValues[]) => {
        workers.set(channel, worker); // it has metrics from its first message on
        worker.latest = metrics;
        worker.onReply();
      });
      channel.on("scrape", () => answer(channel));
      void untilEnded.then(() => remove(channel));
    },
  };
}

/** The counters of workers that have ended, aggregated. */
function keepCounters() {
  const parts: (readonly MetricValues[])[] = [];
  let aggregation = Promise.resolve();
  const aggregateParts = async (): Promise<void> => {
    const count = parts.length;
    parts.splice(0, count, await aggregate(parts.slice(0, count)));
  };
  return {
    counters: () => [...parts],
    add(counters: readonly MetricValues[]): void {
      parts.push(counters);
      aggregation = aggregation.then(aggregateParts);
    },
  };
}

function countersOf(metrics: readonly MetricValues[]): MetricValues[] {
  return metrics.filter(({ type }) => type === "counter" || type === "histogram");
}

function poolMetrics(workers: number, silent: number): MetricValues[] {
  const gauge = (name: string, help: string, value: number): MetricValues => ({
    name,
    help,
    type: "gauge",
    aggregator: "sum",
    values: [{ value, labels: {} }],
  });
  return [
    gauge("vitrine_workers", "Worker processes that serve.", workers),
    gauge("vitrine_workers_silent", "Worker processes that did not answer this scrape in time.", silent),
  ];
}

/** In a worker: gets the metrics of all processes from the primary. @param own the metrics of this worker */
export function shareMetrics(channel: Channel, own: () => Promise<MetricValues[]>): SharedMetrics {
  let onScraped: (text: string | undefined) => void = () => undefined;
  let pending: Promise<string> | undefined;
  let isScraped = false;
  const sendOwn = async () => channel.send("metrics", await own());
  channel.on("collect", () => {
    isScraped = true;
    sendOwn().catch(() => undefined); // the primary's timeout covers it
  });
  channel.on("scraped", (text: string | undefined) => onScraped(text));

  const scrape = async (): Promise<string> => {
    const reply = new Promise<string | undefined>((resolve) => (onScraped = resolve));
    channel.send("scrape");
    const text = await withTimeout(reply, primaryTimeoutMs, "The primary process");
    if (text === undefined) throw new Error("The primary process could not aggregate the metrics.");
    return text;
  };
  channel.send("metrics", []); // registers this worker
  return {
    scrape: () => (pending ??= scrape().finally(() => (pending = undefined))),
    close: async () => (isScraped ? sendOwn() : undefined),
  };
}
