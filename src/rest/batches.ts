import type { ExecutionResult } from "graphql";
import { LineSplitter, lineBytesMax, type TextLine } from "../analytics/events/ndjson.js";
import { type Problem, Problems, validationFailed } from "../errors.js";
import { notJson } from "../lib/json/fault.js";
import { extensionsOf, presentError } from "../schema/errors.js";
import { problemDetails, type ProblemDetails } from "./problemDetails.js";

/** A body of items, one on each line, that is executed in batches as it arrives. */
export interface Batches {
  /** Takes a piece of the body. If it returns a promise, the next piece waits for it. @throws {BatchRefused} */
  push(piece: Buffer): Promise<void> | undefined;
  /** Executes the rest. @returns the sums of what the batches returned @throws {BatchRefused} */
  end(): Promise<Readonly<Record<string, number>>>;
}

/** A batch was refused; those before it were executed. */
export class BatchRefused extends Error {
  constructor(
    readonly problem: ProblemDetails,
    readonly retryAfterSeconds: number | undefined,
  ) {
    super(problem.detail);
  }
}

/** A compromise: few round trips, but others wait for each batch on the embedded engine. */
const itemsMax = 2_000;
/** Bounds the memory where lines are long. */
const bytesMax = 4 * lineBytesMax;

/** @param execute runs the operation with these items; its answer is an object of counts */
export function createBatches(argument: string, execute: (items: unknown[]) => Promise<ExecutionResult>): Batches {
  const splitter = new LineSplitter();
  const sums: Record<string, number> = {};
  let [waiting, bytes, done, isBegun]: [TextLine[], number, number, boolean] = [[], 0, 0, false];

  const run = async (lines: readonly TextLine[]): Promise<void> => {
    isBegun = true;
    const problems = new Problems();
    const items = lines.map((line) => itemOf(line, problems));
    const { data, errors: [error] = [] } = problems.total > 0 ? malformed(problems) : await execute(items);
    if (error !== undefined) {
      const extensions = extensionsOf(error);
      const errors = extensions.errors.map((problem) => atLine(problem, argument, lines));
      const detail = done === 0 ? error.message : afterOthers(error.message, done);
      throw new BatchRefused(problemDetails(detail, { ...extensions, errors }), extensions.retryAfterSeconds);
    }
    for (const counts of Object.values(data ?? {}) as Record<string, number>[]) {
      for (const [name, count] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + count;
    }
    done += lines.length;
  };
  const runFull = async (): Promise<void> => {
    while (waiting.length >= itemsMax || bytes >= bytesMax) {
      await run(waiting.splice(0, itemsMax));
      bytes = waiting.reduce((sum, { text }) => sum + text.length, 0);
    }
  };
  return {
    push(piece) {
      for (const line of splitter.push(piece)) {
        waiting.push(line);
        bytes += line.text.length;
      }
      return waiting.length >= itemsMax || bytes >= bytesMax ? runFull() : undefined;
    },
    async end() {
      waiting.push(...splitter.end());
      await runFull();
      if (waiting.length > 0 || !isBegun) await run(waiting);
      return sums;
    },
  };
}

const faults = {
  tooLong: `The line is longer than ${lineBytesMax} bytes.`,
  notUtf8: "The line is not valid UTF-8.",
} as const;

function itemOf({ number: line, text, fault }: TextLine, problems: Problems): unknown {
  const refuse = (code: Problem["code"], message: string) => problems.add({ code, message, path: [], line });
  if (fault !== undefined) return refuse(fault === "tooLong" ? "TOO_LONG" : "MALFORMED", faults[fault]);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return problems.addLazily(() => ({ code: "MALFORMED", message: notJson(text), path: [], line })); // the parser's would quote it
  }
}

function malformed(problems: Problems): ExecutionResult {
  return { errors: [presentError(validationFailed(problems), { requestId: "", reportError: () => undefined })] };
}

/** A problem of an item of the list, by its line. */
function atLine(problem: Problem, argument: string, lines: readonly TextLine[]): Problem {
  const [name, index, ...path] = problem.path;
  const line = name === argument && typeof index === "number" ? lines[index]?.number : undefined;
  return line === undefined ? problem : { ...problem, path, line };
}

function afterOthers(message: string, done: number): string {
  const reason = message.replace(/ Nothing was (?:changed|stored)\./u, ""); // true of the batch, but not of the body
  return `${reason} The ${done} lines before this batch were recorded; send all of them again once this is corrected.`;
}
