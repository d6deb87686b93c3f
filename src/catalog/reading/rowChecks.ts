import { type Problem, Problems, problemsListedMax } from "../../errors.js";

/** What becomes of an import some of whose products fail: none of its products is stored, or all but those. */
export type ErrorPolicy = "REJECT_ALL" | "REJECT_FAILED";

/** A row that fails by itself. Of its problems the first `rowProblemsMax` are listed. */
export interface FailedRow {
  /** Its CSV line, or its index. */
  readonly line: number;
  readonly problems: readonly Problem[];
  readonly problemsTotal: number;
}

/** The first rows that fail, in their order, and how many there are in all. */
export interface FailedRows {
  readonly list: readonly FailedRow[];
  readonly total: number;
}

/** An answer lists this many failed rows; the rest are only counted. */
export const failuresListedMax = problemsListedMax;
/** And this many problems of each. */
export const rowProblemsMax = 10;

/**
 * Takes in what is wrong while rows are read. Problems of the import as a whole always reject it; those of a row do so
 * unless failed rows are let go one by one.
 */
export class RowChecks {
  /** What rejects the whole import. */
  readonly problems = new Problems();
  /** Where the problems of the current row go. */
  row: Problems;
  readonly #failed: FailedRow[] = [];
  #failedTotal = 0;

  constructor(private readonly policy: ErrorPolicy) {
    this.row = policy === "REJECT_ALL" ? this.problems : new Problems();
  }

  /** The current row is read. */
  endRow(line: number): void {
    if (this.row === this.problems || this.row.total === 0) return;
    const { list, total } = this.row;
    this.#failedTotal += 1;
    if (this.#failed.length < failuresListedMax) {
      this.#failed.push({ line, problems: list.slice(0, rowProblemsMax), problemsTotal: total });
    }
    this.row = new Problems();
  }

  /** Whether nothing was found so far. */
  get isValid(): boolean {
    return this.problems.total + this.#failedTotal === 0;
  }

  /** All that was found; `failed` where failed rows are let go. */
  get found() {
    const { list, total } = this.problems;
    const failed: FailedRows = { list: this.#failed, total: this.#failedTotal };
    return { problems: { list, total }, ...(this.policy === "REJECT_FAILED" && { failed }) };
  }
}
