/** The codes of errors for callers; rest/problemDetails.ts maps them to HTTP statuses. */
export type ErrorCode =
  | "BAD_REQUEST"
  | "VALIDATION_FAILED"
  | "SITE_NOT_FOUND"
  | "PRODUCT_NOT_FOUND"
  | "TOO_MANY_DELETIONS"
  | "UNAUTHENTICATED"
  | "FORBIDDEN"
  | "LIVE_STREAM_NOT_FOUND"
  | "NOT_FOUND"
  | "METHOD_NOT_ALLOWED"
  | "PERSISTED_QUERY_NOT_FOUND"
  | "PERSISTED_QUERY_NOT_SUPPORTED"
  | "NOT_ACCEPTABLE"
  | "REQUEST_TIMEOUT"
  | "PAYLOAD_TOO_LARGE"
  | "RESPONSE_TOO_LARGE"
  | "URI_TOO_LONG"
  | "UNSUPPORTED_MEDIA_TYPE"
  | "UPGRADE_REQUIRED"
  | "IDEMPOTENCY_KEY_REUSED"
  | "IDEMPOTENCY_KEY_IN_USE"
  | "RATE_LIMITED"
  | "HEADERS_TOO_LARGE"
  | "CLIENT_CLOSED_REQUEST"
  | "UNAVAILABLE"
  | "INTERNAL";

export type ProblemCode =
  | ErrorCode
  | "REQUIRED"
  | "INVALID_TYPE"
  | "INVALID_VALUE"
  | "TOO_LONG"
  | "DUPLICATE"
  | "CONFLICT"
  | "UNKNOWN_FIELD"
  | "MALFORMED";

/** The path from the root of the input to a place in it: `["products", 3, "price"]`. */
export type Path = readonly (string | number)[];

export interface Problem {
  readonly code: ProblemCode;
  readonly message: string;
  readonly path: Path;
  /** In CSV: the line on which the record starts; line 1 is the header. In NDJSON: the line. */
  readonly line?: number;
}

/** Problems listed in an answer; the rest are counted. */
export const problemsListedMax = 100;

/** Collects problems: the first `problemsListedMax`, and the total. */
export class Problems {
  readonly list: Problem[] = [];
  total = 0;

  add(problem: Problem): void {
    this.total += 1;
    if (this.list.length < problemsListedMax) this.list.push(problem);
  }

  addLazily(make: () => Problem): void {
    this.total += 1;
    if (this.list.length < problemsListedMax) this.list.push(make());
  }

  addAll(found: { readonly list: readonly Problem[]; readonly total: number }): void {
    this.list.push(...found.list.slice(0, problemsListedMax - this.list.length));
    this.total += found.total;
  }

  /** @throws {AppError} VALIDATION_FAILED if there are problems */
  throwIfAny(): void {
    if (this.total > 0) throw validationFailed(this);
  }
}

/** Merges the problems of several passes over the same rows, in the order of the rows. */
export function inOrderOfRows(
  ...passes: readonly Pick<Problems, "list" | "total">[]
): Pick<Problems, "list" | "total"> {
  const list = passes.flatMap((pass) => pass.list).toSorted((a, b) => positionOf(a) - positionOf(b));
  return { list: list.slice(0, problemsListedMax), total: passes.reduce((sum, { total }) => sum + total, 0) };
}

function positionOf({ line, path }: Problem): number {
  return line ?? path.find((step) => typeof step === "number") ?? 0;
}

interface AppErrorOptions {
  readonly problems?: readonly Problem[];
  readonly problemsTotal?: number;
  readonly retryAfterSeconds?: number;
  readonly cause?: unknown;
}

/** An error for the caller; any other error is answered as INTERNAL and logged. */
export class AppError extends Error {
  override readonly name = "AppError";
  readonly code: ErrorCode;
  /** Never empty: an error without a place is its own single problem. */
  readonly problems: readonly Problem[];
  readonly problemsTotal: number;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.problems = options.problems ?? [{ code, message, path: [] }];
    this.problemsTotal = options.problemsTotal ?? this.problems.length;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

export function errorAt(code: ErrorCode, message: string, path: Path): AppError {
  return new AppError(code, message, { problems: [{ code, message, path }] });
}

export function validationFailed({ list, total }: Pick<Problems, "list" | "total">): AppError {
  const [first] = list;
  const message =
    total === 1 && first !== undefined
      ? first.message
      : total > list.length
        ? `${total} problems; the first ${list.length} are listed. Nothing was stored.`
        : `${total} problems. Nothing was stored.`;
  return new AppError("VALIDATION_FAILED", message, { problems: list, problemsTotal: total });
}
