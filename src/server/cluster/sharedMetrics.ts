import { withTimeout } from "../../lib/timers.js";
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

interface WorkerMetrics {
  latest: readonly MetricValues[] | undefined;
  onReply: () => void;
}

/**
 * In the primary: answers scrapes of any worker. Counters must never decrease, because Prometheus takes a decrease for a reset. So we
 * use the last reply of a worker that does not answer, and keep the counters of ended workers. prom-client's clusterMetrics does
 * neither.
 */
export class MetricsCollector {
  readonly #workers = new Map<Channel, WorkerMetrics>();
  readonly #ended = keepCounters();
  readonly #timeoutMs: number;
  #pending: Promise<string> | undefined;

  constructor(timeoutMs: number = workerTimeoutMs) {
    this.#timeoutMs = timeoutMs;
    collectProcessMetrics();
  }

  /** @param untilEnded settles when the worker has ended */
  onSpawn(channel: Channel, untilEnded: Promise<unknown>): void {
    const worker: WorkerMetrics = { latest: undefined, onReply: () => undefined };
    channel.on("metrics", (metrics: readonly MetricValues[]) => {
      this.#workers.set(channel, worker); // before its first message, a worker has no metrics
      worker.latest = metrics;
      worker.onReply();
    });
    channel.on("scrape", () => this.#answer(channel));
    void untilEnded.then(() => this.#remove(channel, worker));
  }

  #remove(channel: Channel, { latest }: WorkerMetrics): void {
    this.#workers.delete(channel);
    if (latest !== undefined) this.#ended.add(countersOf(latest));
  }

  #answer(channel: Channel): void {
    this.#pending ??= this.#collect().finally(() => (this.#pending = undefined));
    this.#pending.then(
      (text) => channel.send("scraped", text),
      () => channel.send("scraped"),
    );
  }

  async #collect(): Promise<string> {
    const queried = [...this.#workers];
    const kept = this.#ended.counters();
    const hasReplied = await Promise.all(queried.map(([channel, worker]) => this.#replies(channel, worker)));
    const parts = queried.map(([, { latest = [] }], index) => (hasReplied[index] ? latest : countersOf(latest)));
    const silent = hasReplied.filter((replied) => !replied).length;
    return aggregateAsText([...parts, ...kept, await processMetrics(), poolMetrics(queried.length, silent)]);
  }

  #replies(channel: Channel, worker: WorkerMetrics): Promise<boolean> {
    const reply = new Promise<void>((resolve) => (worker.onReply = resolve));
    channel.send("collect");
    return withTimeout(reply, this.#timeoutMs, "A worker").then(
      () => true,
      () => false,
    );
  }
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
    sendOwn().catch(() => undefined); // the primary then reaches its timeout
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
