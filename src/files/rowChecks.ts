import { type Problem, Problems, problemsListedMax } from "../errors.js";

/** Whether failed products reject the whole import, or only themselves. */
export type ErrorPolicy = "REJECT_ALL" | "REJECT_FAILED";

/** An invalid row, with its first `rowProblemsMax` problems. */
export interface FailedRow {
  readonly line: number;
  readonly problems: readonly Problem[];
  readonly problemsTotal: number;
}

export interface FailedRows {
  readonly list: readonly FailedRow[];
  readonly total: number;
}

/** An import with more invalid values is refused for these alone, without reading and comparing keys. */
export const invalidValuesMax = 1_000;

/** The failures that a response lists. Others are only counted. */
export const failuresListedMax = problemsListedMax;
/** Problems listed for each failure. */
export const rowProblemsMax = 10;

export class RowChecks {
  readonly problems = new Problems();
  row: Problems;
  readonly #failed: FailedRow[] = [];
  #failedTotal = 0;

  constructor(private readonly policy: ErrorPolicy) {
    this.row = policy === "REJECT_ALL" ? this.problems : new Problems();
  }

  endRow(line: number): void {
    if (this.row === this.problems || this.row.total === 0) return;
    const { list, total } = this.row;
    this.#failedTotal += 1;
    if (this.#failed.length < failuresListedMax) {
      this.#failed.push({ line, problems: list.slice(0, rowProblemsMax), problemsTotal: total });
    }
    this.row = new Problems();
  }

  get hasTooManyProblems(): boolean {
    return this.problems.total > invalidValuesMax;
  }

  /** The result; `failed` only with REJECT_FAILED. */
  get found() {
    const { list, total } = this.problems;
    const failed: FailedRows = { list: this.#failed, total: this.#failedTotal };
    return { problems: { list, total }, ...(this.policy === "REJECT_FAILED" && { failed }) };
  }
}
