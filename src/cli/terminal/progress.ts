/** Shows how far a part of the work is. @param done in the unit of `total`; @param items rows or events so far */
export type ShowProgress = (label: string, total: number, done: number, items: number) => void;

/** Shows the progress of work, part by part. @param work may call `end` to stop showing it */
export async function withProgress<Result>(
  items: string,
  work: (show: ShowProgress, end: () => void) => Promise<Result>,
): Promise<Result> {
  let shown: { readonly label: string; readonly progress: Progress } | undefined;
  const end = (): void => {
    shown?.progress.stop();
    shown = undefined;
  };
  const show: ShowProgress = (label, total, done, ofItems) => {
    if (shown?.label !== label) {
      end();
      shown = { label, progress: startProgress({ label, total, items }) };
    }
    shown.progress.update(done, ofItems);
  };
  try {
    return await work(show, end);
  } finally {
    end();
  }
}

interface Progress {
  /**
   * @param done in the unit of `total`
   * @param items rows or events so far
   */
  update(done: number, items: number): void;
  stop(): void;
}

interface ProgressOptions {
  readonly label: string;
  readonly total: number;
  readonly items: string;
}

const everyMs = { terminal: 200, file: 5_000 };
/** Goes to the beginning of the line and clears it. */
const again = "\r\u001B[K";

/** On a terminal, updates one line. Elsewhere, writes a line every few seconds, so that short work writes none. */
export function startProgress(
  { label, total, items: unit }: ProgressOptions,
  stream: Pick<NodeJS.WriteStream, "isTTY" | "columns" | "write"> = process.stderr,
): Progress {
  const { isTTY } = stream;
  const startedAt = performance.now();
  let writtenAt = startedAt;
  let last: string | undefined;
  const write = () => stream.write(isTTY ? `${again}${last?.slice(0, stream.columns - 1)}` : `${last}\n`);
  return {
    update(done, items) {
      const now = performance.now();
      last = `${label}: ${percent(done, total)}, ${describePace({ done, total, items, unit }, now - startedAt)}`;
      if (now - writtenAt < (isTTY ? everyMs.terminal : everyMs.file)) return;
      writtenAt = now;
      write();
    },
    stop() {
      if (!isTTY || last === undefined) return;
      write();
      stream.write("\n");
    },
  };
}

function percent(done: number, total: number): string {
  return `${total === 0 ? 100 : Math.floor((100 * done) / total)}%`;
}

/** `40,000 rows, 32,000 rows/s, 5 s left`, from the average since the start. */
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
