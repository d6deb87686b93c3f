import { Presets, SingleBar } from "cli-progress";

export interface Progress {
  /**
   * @param done in the unit of `total`
   * @param items rows or events so far
   */
  update(done: number, items: number): void;
  stop(): void;
}

export interface ProgressOptions {
  readonly label: string;
  readonly total: number;
  readonly items: string;
}

const lineEveryMs = 5_000;

/** Progress on standard error: a bar on a terminal, elsewhere a line every few seconds. */
function startProgress(options: ProgressOptions, stream = process.stderr): Progress {
  return stream.isTTY ? startBar(options, stream) : startLines(options, (line) => stream.write(line));
}

/** Shows how far a part of the work is. @param done in the unit of `total`; @param items rows or events so far */
export type ShowProgress = (label: string, total: number, done: number, items: number) => void;

/** Shows the progress of work, a bar for each label. @param work may end that before its own end */
export async function withProgress<Result>(
  items: string,
  work: (show: ShowProgress, end: () => void) => Promise<Result>,
): Promise<Result> {
  let shown: { readonly label: string; readonly bar: Progress } | undefined;
  const end = (): void => {
    shown?.bar.stop();
    shown = undefined;
  };
  const show: ShowProgress = (label, total, done, ofItems) => {
    if (shown?.label !== label) {
      end();
      shown = { label, bar: startProgress({ label, total, items }) };
    }
    shown.bar.update(done, ofItems);
  };
  try {
    return await work(show, end);
  } finally {
    end();
  }
}

/** @param everyMs the interval between lines; shorter work prints none */
export function startLines(
  { label, total, items: unit }: ProgressOptions,
  write: (line: string) => void,
  everyMs = lineEveryMs,
): Progress {
  const startedAt = performance.now();
  let writtenAt = startedAt;
  return {
    update(done, items) {
      const now = performance.now();
      if (now - writtenAt < everyMs) return;
      writtenAt = now;
      write(`${label}: ${percent(done, total)}, ${describePace({ done, total, items, unit }, now - startedAt)}\n`);
    },
    stop: () => undefined,
  };
}

function startBar({ label, total, items: unit }: ProgressOptions, stream: NodeJS.WriteStream): Progress {
  const startedAt = performance.now();
  const bar = new SingleBar(
    { format: `${label} {bar} {percentage}%  {pace}`, stream, hideCursor: true, fps: 5 },
    Presets.shades_classic,
  );
  bar.start(total, 0, { pace: "" });
  const stop = () => bar.stop(); // shows the cursor again
  process.once("exit", stop);
  return {
    update: (done, items) =>
      bar.update(done, { pace: describePace({ done, total, items, unit }, performance.now() - startedAt) }),
    stop: () => {
      stop();
      process.off("exit", stop);
    },
  };
}

function percent(done: number, total: number): string {
  return `${total === 0 ? 100 : Math.floor((100 * done) / total)}%`;
}

/** `40,000 rows, 32,000 rows/s, 5 s left`, by the average since the start. */
function describePace(
  { done, total, items, unit }: { done: number; total: number; items: number; unit: string },
  elapsedMs: number,
): string {
  const rate = elapsedMs === 0 ? 0 : Math.round((1_000 * items) / elapsedMs);
  const left = done === 0 ? "" : `, ${describeTime((elapsedMs * (total - done)) / done)} left`;
  return `${count(items)} ${unit}, ${count(rate)} ${unit}/s${left}`;
}

function count(value: number): string {
  return value.toLocaleString("en");
}

function describeTime(ms: number): string {
  const seconds = Math.ceil(ms / 1_000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min ${seconds % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
