import { withTimeout } from "../lib/timeout.js";
import type { Channel } from "./channel.js";
import { combine, expose, type Figure, processFigures, watchProcess } from "../telemetry/exposition.js";

/** How long a worker may take to tell its figures, and the primary to put them together. */
const workerTimeoutMs = 1_000;
const primaryTimeoutMs = 3_000;

/** In the primary: answers each worker that is scraped with the figures of all. */
export interface Scrapes {
  /** To be called with the channel to each new worker, and with what settles when that has ended. */
  onSpawn(channel: Channel, ended: Promise<unknown>): void;
}

interface WorkerFigures {
  /** What it last told; undefined before. */
  latest: readonly Figure[] | undefined;
  /** Takes what it tells next. */
  heard: () => void;
}

/**
 * Counts must never shrink, or they would be taken for new ones that have grown since by all they show. So those of a
 * silent worker stand as they were when it last answered, and those of workers that ended are kept. Its other
 * figures are left out.
 */
export function createScrapes(timeoutMs: number = workerTimeoutMs): Scrapes {
  watchProcess();
  const workers = new Map<Channel, WorkerFigures>();
  const kept = keepCounts();
  let underWay: Promise<string> | undefined;

  const isHeard = async (channel: Channel, worker: WorkerFigures): Promise<boolean> => {
    const reply = new Promise<void>((resolve) => (worker.heard = resolve));
    channel.send("figures?");
    return withTimeout(reply, timeoutMs, "A worker").then(
      () => true,
      () => false,
    );
  };

  const gather = async (): Promise<string> => {
    const asked = [...workers];
    const before = kept.counts();
    const heard = await Promise.all(asked.map(([channel, worker]) => isHeard(channel, worker)));
    const told = asked.map(([, { latest = [] }], index) => (heard[index] === true ? latest : countsOf(latest)));
    const silent = heard.filter((answered) => !answered).length;
    return expose([...told, ...before, await processFigures(), poolFigures(asked.length, silent)]);
  };

  const answer = (channel: Channel): void => {
    underWay ??= gather().finally(() => (underWay = undefined));
    underWay.then(
      (text) => channel.send("scraped", text),
      () => channel.send("scraped"),
    );
  };

  const forget = async (channel: Channel, ended: Promise<unknown>): Promise<void> => {
    await ended;
    const latest = workers.get(channel)?.latest;
    workers.delete(channel);
    if (latest !== undefined) kept.add(countsOf(latest));
  };

  return {
    onSpawn(channel, ended) {
      const worker: WorkerFigures = { latest: undefined, heard: () => undefined };
      channel.on("figures", (figures: readonly Figure[]) => {
        workers.set(channel, worker); // one that is not there yet has nothing to tell
        worker.latest = figures;
        worker.heard();
      });
      channel.on("scrape", () => answer(channel));
      void forget(channel, ended);
    },
  };
}

/** The counts of workers that ended, added up. */
function keepCounts() {
  const parts: (readonly Figure[])[] = [];
  let adding = Promise.resolve();
  const addUp = async (): Promise<void> => {
    const count = parts.length;
    parts.splice(0, count, await combine(parts.slice(0, count)));
  };
  return {
    counts: () => [...parts],
    add(counts: readonly Figure[]): void {
      parts.push(counts);
      adding = adding.then(addUp);
    },
  };
}

function countsOf(figures: readonly Figure[]): Figure[] {
  return figures.filter(({ type }) => type === "counter" || type === "histogram");
}

function poolFigures(workers: number, silent: number): Figure[] {
  const gauge = (name: string, help: string, value: number): Figure => ({
    name,
    help,
    type: "gauge",
    aggregator: "sum",
    values: [{ value, labels: {} }],
  });
  return [
    gauge("vitrine_workers", "Worker processes that serve.", workers),
    gauge("vitrine_workers_silent", "Those of them that did not tell their figures in time.", silent),
  ];
}

/** In a worker: its end of the channel. */
export interface ScrapeChannel {
  /** The figures of the whole service. Rejects where the primary does not answer in time. */
  scrape(): Promise<string>;
  /** Leaves what this worker has counted with the primary, where somebody scrapes. */
  close(): Promise<void>;
}

/** @param own the figures of this worker */
export function openScrapeChannel(channel: Channel, own: () => Promise<Figure[]>): ScrapeChannel {
  let heard: (text: string | undefined) => void = () => undefined;
  let underWay: Promise<string> | undefined;
  let isScraped = false;
  const tell = async () => channel.send("figures", await own());
  channel.on("figures?", () => {
    isScraped = true;
    tell().catch(() => undefined); // the primary does not wait for ever
  });
  channel.on("scraped", (text: string | undefined) => heard(text));

  const ask = async (): Promise<string> => {
    const reply = new Promise<string | undefined>((resolve) => (heard = resolve));
    channel.send("scrape");
    const text = await withTimeout(reply, primaryTimeoutMs, "The primary process");
    if (text === undefined) throw new Error("The primary process could not put the figures together.");
    return text;
  };
  channel.send("figures", []); // from now on it is asked
  return {
    scrape: () => (underWay ??= ask().finally(() => (underWay = undefined))),
    close: async () => (isScraped ? tell() : undefined),
  };
}
