import { AppError } from "../../errors.js";

/** What a slow uplink sends: 52 kbit/s, the least of a mobile network. */
const progressBytes = 64 * 1024;
const progressMs = 10_000;
const checkEveryMs = 1_000;

/** Has a body that hardly moves give up its place, or its memory, while another one waits for it. */
export class Progress {
  #bytes = 0;
  #movedAt = 0;
  #timer: NodeJS.Timeout | undefined;

  add(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes < progressBytes) return;
    this.#bytes = 0;
    this.#movedAt = performance.now();
  }

  /** From the moment in which it holds something. Further calls change nothing. */
  watch(isWanted: () => boolean, fail: (error: AppError) => void): void {
    if (this.#timer !== undefined) return;
    this.#movedAt = performance.now();
    this.#timer = setInterval(() => {
      if (performance.now() - this.#movedAt < progressMs || !isWanted()) return;
      this.stop();
      fail(new AppError("REQUEST_TIMEOUT", tooSlow));
    }, checkEveryMs);
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

const tooSlow = `The body arrived too slowly, with less than ${progressBytes / 1_024} KiB in ${progressMs / 1_000} seconds, while others waited for its place. Nothing was changed.`;
