import { type Logger, pino } from "pino";
import type { Config } from "../../config.js";
import { loggedError } from "./log.error.js";

/** How long lines below warn are buffered. */
const waitMs = 50;
const warnLevel = 40;
const bufferedCharactersMax = 16_384;
/** Lines beyond are dropped while they are not read, as where the reader of a pipe hangs. */
const unwrittenCharactersMax = 8 * 1_024 * 1_024;

/** The log of a process that serves: JSON lines on standard error. */
export function openLog({ logLevel }: Pick<Config, "logLevel">): Logger {
  const destination = pino.destination({ dest: 2, sync: false, maxLength: unwrittenCharactersMax });
  return pino({ level: logLevel, serializers: { err: loggedError } }, buffered(destination));
}

/**
 * Writes lines in batches, which takes two thirds of the CPU time of single writes. Warnings and errors are written immediately, with
 * the lines before them. sonic-boom's own buffer (minLength) would hold them back while a write is in progress.
 */
function buffered(destination: { write(text: string): unknown }) {
  let lines: string[] = [];
  let characters = 0;
  let timer: NodeJS.Timeout | undefined;
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    if (lines.length > 0) destination.write(lines.join(""));
    lines = [];
    characters = 0;
  };
  process.prependListener("exit", flush); // before the destination's own listener, which flushes it
  return {
    [Symbol.for("pino.metadata")]: true, // pino then sets lastLevel
    lastLevel: 0,
    write(line: string) {
      lines.push(line);
      characters += line.length;
      if (characters >= bufferedCharactersMax || this.lastLevel >= warnLevel) flush();
      else timer ??= setTimeout(flush, waitMs);
    },
  };
}
