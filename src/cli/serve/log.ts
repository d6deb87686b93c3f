import { type Logger, pino } from "pino";
import type { Config } from "../../config.js";
import { sqlStateOf } from "../../database/databaseErrors.js";
import { clip } from "../../lib/text.js";
import { reasonOf } from "../terminal/failure.js";

/** How long lines below warn are buffered. */
const waitMs = 50;
const warnLevel = 40;
const bufferedCharactersMax = 16_384;
/** If nobody reads standard error, for example because the reader of a pipe hangs, further lines are dropped. */
const unwrittenCharactersMax = 8 * 1_024 * 1_024;

/** The log of a process that serves: JSON lines on standard error. */
export function openLog({ logLevel }: Pick<Config, "logLevel">): Logger {
  const destination = pino.destination({ dest: 2, sync: false, maxLength: unwrittenCharactersMax });
  return pino({ level: logLevel, serializers: { err: loggedError } }, buffered(destination));
}

/**
 * Writes lines in batches, which take two thirds of the CPU time of single writes. Writes warnings and errors immediately, with the
 * lines before them: sonic-boom's own buffer (minLength) would hold them back during a write.
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
  process.prependListener("exit", flush); // must run before the destination flushes itself
  return {
    [Symbol.for("pino.metadata")]: true, // makes pino set lastLevel
    lastLevel: 0,
    write(line: string) {
      lines.push(line);
      characters += line.length;
      if (characters >= bufferedCharactersMax || this.lastLevel >= warnLevel) flush();
      else timer ??= setTimeout(flush, waitMs);
    },
  };
}

const messageMax = 500;

/** What may be logged of an error: those of Prisma and PostgreSQL also contain query parameters and whole rows. */
export function loggedError(error: unknown): unknown {
  if (!(error instanceof Error)) return typeof error === "string" ? clip(error, messageMax) : typeof error;
  const { name, stack = "" } = error;
  const sqlState = sqlStateOf(error);
  return {
    type: error.constructor.name || name,
    message: hasValue(sqlState) ? "The database refused a value." : clip(reasonOf(error), messageMax),
    ...("code" in error && typeof error.code === "string" && { code: error.code }),
    sqlState,
    stack: stack
      .split("\n")
      .filter((line) => /^ +at /u.test(line))
      .join("\n"),
  };
}

/** Messages of class 22 (data exceptions) repeat the value. */
function hasValue(sqlState: string | undefined): boolean {
  return sqlState?.startsWith("22") === true;
}
