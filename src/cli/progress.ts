import { Presets, SingleBar } from "cli-progress";

/** How far a long command is. */
export interface Progress {
  update(done: number, note: string): void;
  stop(): void;
}

const silent: Progress = { update: () => undefined, stop: () => undefined };

/** A progress bar on standard error where that is a terminal; nothing elsewhere. */
export function startProgress(unit: string, total: number): Progress {
  if (!process.stderr.isTTY) return silent;
  const format = `{bar} {percentage}% | {note} | {eta_formatted} left`;
  const bar = new SingleBar(
    { format, stream: process.stderr, hideCursor: true, etaBuffer: 50, fps: 5 },
    Presets.shades_classic,
  );
  bar.start(total, 0, { note: unit });
  const stop = () => bar.stop(); // shows the cursor again
  process.once("exit", stop);
  return {
    update: (done, note) => bar.update(done, { note }),
    stop: () => {
      stop();
      process.off("exit", stop);
    },
  };
}
