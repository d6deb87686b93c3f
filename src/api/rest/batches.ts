import type { ExecutionResult } from "graphql";
import { refusePacked } from "../../files/encoding/fileKinds.js";
import { LineSplitter, lineBytesMax, type TextLine, valueOf } from "../../events/files/ndjson.js";
import { type Problem, Problems, validationFailed } from "../../errors.js";
import { extensionsOf, presentError } from "../../schema/publicErrors.js";
import { problemDetails, type ProblemDetails } from "./problemDetails.js";

/** A batch was refused. Those before it were executed. */
export class BatchRefused extends Error {
  constructor(
    readonly problem: ProblemDetails,
    readonly retryAfterSeconds: number | undefined,
  ) {
    super(problem.detail);
  }
}

/** A compromise: larger batches need fewer round trips, but on the embedded engine other requests wait for each batch. */
const itemsMax = 2_000;
/** Bounds memory if lines are long. */
const bytesMax = 4 * lineBytesMax;

/** Executes a body in batches as it arrives. Each line is one item. */
export class Batches {
  readonly #argument: string;
  readonly #execute: (items: unknown[]) => Promise<ExecutionResult>;
  readonly #splitter = new LineSplitter();
  readonly #sums: Record<string, number> = {};
  #waiting: TextLine[] = [];
  #bytes = 0;
  #done = 0;
  #isBegun = false;
  #isSeen = false;

  /** @param execute runs the operation with these items of the argument, and answers with an object of counts */
  constructor(argument: string, execute: (items: unknown[]) => Promise<ExecutionResult>) {
    this.#argument = argument;
    this.#execute = execute;
  }

  /**
   * Takes a piece of the body. If it returns a promise, the next piece waits for it.
   *
   * @throws {BatchRefused}, or {AppError} for a body that is an archive
   */
  push(piece: Buffer): Promise<void> | undefined {
    if (!this.#isSeen) refusePacked(piece, "NDJSON");
    this.#isSeen = true;
    for (const line of this.#splitter.push(piece)) {
      this.#waiting.push(line);
      this.#bytes += line.text.length;
    }
    return this.#isFull() ? this.#runFull() : undefined;
  }

  /** Executes the rest. @returns the sums of all batches' counts @throws {BatchRefused} */
  async end(): Promise<Readonly<Record<string, number>>> {
    this.#waiting.push(...this.#splitter.end());
    await this.#runFull();
    if (this.#waiting.length > 0 || !this.#isBegun) await this.#run(this.#waiting);
    return this.#sums;
  }

  #isFull(): boolean {
    return this.#waiting.length >= itemsMax || this.#bytes >= bytesMax;
  }

  async #runFull(): Promise<void> {
    while (this.#isFull()) {
      await this.#run(this.#waiting.splice(0, itemsMax));
      this.#bytes = this.#waiting.reduce((sum, { text }) => sum + text.length, 0);
    }
  }

  async #run(lines: readonly TextLine[]): Promise<void> {
    this.#isBegun = true;
    const problems = new Problems();
    const items = lines.map((line) => valueOf(line, problems));
    const { data, errors: [error] = [] } = problems.total > 0 ? malformed(problems) : await this.#execute(items);
    if (error !== undefined) {
      const extensions = extensionsOf(error);
      const errors = extensions.errors.map((problem) => atLine(problem, this.#argument, lines));
      const detail = this.#done === 0 ? error.message : afterOthers(error.message, this.#done);
      throw new BatchRefused(problemDetails(detail, { ...extensions, errors }), extensions.retryAfterSeconds);
    }
    for (const counts of Object.values(data ?? {}) as Record<string, number>[]) {
      for (const [name, count] of Object.entries(counts)) this.#sums[name] = (this.#sums[name] ?? 0) + count;
    }
    this.#done += lines.length;
  }
}

function malformed(problems: Problems): ExecutionResult {
  return { errors: [presentError(validationFailed(problems), { requestId: "", reportError: () => undefined })] };
}

/** Replaces the index in a problem's path with the line. */
function atLine(problem: Problem, argument: string, lines: readonly TextLine[]): Problem {
  const [name, index, ...path] = problem.path;
  const line = name === argument && typeof index === "number" ? lines[index]?.number : undefined;
  return line === undefined ? problem : { ...problem, path, line };
}

function afterOthers(message: string, done: number): string {
  const reason = message.replace(/ Nothing was (?:changed|stored)\./u, ""); // true for the batch, but not for the whole body
  return `${reason} The ${done} lines before this batch were recorded. Correct this, and send all lines again.`;
}
