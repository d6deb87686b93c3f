import { type Logger, pino } from "pino";
import type { Config } from "../../config.js";
import { loggedError } from "./log.error.js";

/** How long an ordinary line may wait for others to be written with. */
const waitMs = 50;
/** pino's number. */
const warnLevel = 40;
/** How much may wait. */
const waitingCharactersMax = 16_384;
/** What nobody takes, as from a pipe whose reader hangs, is kept up to this many characters; what comes then is dropped. */
const unwrittenCharactersMax = 8 * 1_024 * 1_024;

/** The log of a process that serves: JSON lines on standard error. */
export function openLog({ logLevel }: Pick<Config, "logLevel">): Logger {
  const standardError = pino.destination({ dest: 2, sync: false, maxLength: unwrittenCharactersMax });
  return pino({ level: logLevel, serializers: { err: loggedError } }, together(standardError));
}

/**
 * Writes ordinary lines some at a time, which takes half the CPU time of one by one: at full load there are thousands a
 * second. Warnings and errors are written at once, with what came before; so is the rest when the process ends, unless it is killed.
 */
function together(destination: { write(text: string): unknown }) {
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
  process.prependListener("exit", flush); // before the destination writes what it has, as it does then
  return {
    [Symbol.for("pino.metadata")]: true, // has pino tell the level
    lastLevel: 0,
    write(line: string) {
      lines.push(line);
      characters += line.length;
      if (characters >= waitingCharactersMax || this.lastLevel >= warnLevel) flush();
      else timer ??= setTimeout(flush, waitMs);
    },
  };
}
