/** The codes of errors for callers, with their descriptions for docs/errors.md; api/rest/problemDetails.ts maps them to HTTP statuses. */
export const errorCodes = {
  BAD_REQUEST: "The request cannot be read, or its operation is invalid or over a limit.",
  VALIDATION_FAILED: "Values of the input are invalid: `errors` lists each.",
  SITE_NOT_FOUND: "The store has no such site.",
  PRODUCT_NOT_FOUND: "The store has no such product.",
  TOO_MANY_DELETIONS: "A REPLACE would remove more products than maxDeletions allows.",
  UNAUTHENTICATED: "The access token is missing or invalid.",
  FORBIDDEN: "The access token does not have the scope that the message names.",
  LIVE_STREAM_NOT_FOUND: "The store has no such show.",
  MOMENT_NOT_FOUND: "The show has no such moment.",
  ORDER_NOT_FOUND: "The store has no such order, or it was not paid yet.",
  NOT_FOUND: "The path does not exist.",
  METHOD_NOT_ALLOWED: "The path does not take this method: Allow lists those that it takes.",
  PERSISTED_QUERY_NOT_FOUND: "No persisted operation has this id: send the operation in full.",
  PERSISTED_QUERY_NOT_SUPPORTED: "There are no persisted operations: send the operation in full.",
  NOT_ACCEPTABLE: "Accept names no media type that the path can answer with.",
  REQUEST_TIMEOUT: "The request took over REQUEST_TIMEOUT_MS to arrive, or its headers over 20 seconds.",
  PRECONDITION_FAILED: "If-Match or If-None-Match does not hold: nothing was changed.",
  PAYLOAD_TOO_LARGE: "The decompressed body exceeds MAX_BODY_BYTES, MAX_UPLOAD_BYTES (a file) or 4 MiB (no import).",
  RESPONSE_TOO_LARGE: "The response would exceed 16 MiB: ask for smaller pages or fewer fields.",
  URI_TOO_LONG: "Path and query string have more than 8,192 characters.",
  UNSUPPORTED_MEDIA_TYPE: "The path does not take this media type, charset or content encoding.",
  TOO_EARLY: "The show has not started: Retry-After gives the time to wait.",
  UPGRADE_REQUIRED: "WebSockets are not supported: open subscriptions by GET or POST.",
  IDEMPOTENCY_KEY_REUSED: "The Idempotency-Key was used with another body.",
  IDEMPOTENCY_KEY_IN_USE: "An import with this Idempotency-Key is in progress.",
  RATE_LIMITED: "Too many calls: Retry-After gives the time to wait.",
  HEADERS_TOO_LARGE: "The headers have more than 32 KB.",
  CLIENT_CLOSED_REQUEST: "The client left before its request was executed. Only in logs and metrics.",
  UNAVAILABLE: "The database, or memory for large bodies, is not available: Retry-After gives the time to wait.",
  INTERNAL: "A defect of the service. Name the requestId when you report it.",
} as const;
export type ErrorCode = keyof typeof errorCodes;

/** The codes of problems at one place of the input, besides those of errors. */
export const placeCodes = {
  REQUIRED: "A value is missing, null or blank.",
  INVALID_TYPE: "A value has the wrong type.",
  INVALID_VALUE: "A value is not one of those that are allowed here.",
  TOO_LONG: "A text or a list is too long.",
  DUPLICATE: "Another item of the same request has this value, which must be unique.",
  CONFLICT: "A stored item has this value, which must be unique.",
  UNKNOWN_FIELD: "There is no field or column with this name.",
  MALFORMED: "A row or a line cannot be read.",
} as const;
export type ProblemCode = ErrorCode | keyof typeof placeCodes;

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
