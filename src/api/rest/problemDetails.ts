import type { ErrorCode, Problem } from "../../errors.js";
import type { ErrorExtensions } from "../../schema/publicErrors.js";

export const problemTypes: Readonly<Record<ErrorCode, { status: number; title: string }>> = {
  BAD_REQUEST: { status: 400, title: "Bad request" },
  VALIDATION_FAILED: { status: 400, title: "Validation failed" },
  SITE_NOT_FOUND: { status: 400, title: "Site not found" },
  PRODUCT_NOT_FOUND: { status: 400, title: "Product not found" },
  TOO_MANY_DELETIONS: { status: 400, title: "Too many deletions" },
  UNAUTHENTICATED: { status: 401, title: "Access token missing or invalid" },
  FORBIDDEN: { status: 403, title: "Not allowed by the access token" },
  LIVE_STREAM_NOT_FOUND: { status: 404, title: "Live stream not found" },
  MOMENT_NOT_FOUND: { status: 404, title: "Moment not found" },
  ORDER_NOT_FOUND: { status: 404, title: "Order not found" },
  NOT_FOUND: { status: 404, title: "Not found" },
  METHOD_NOT_ALLOWED: { status: 405, title: "Method not allowed" },
  PERSISTED_QUERY_NOT_FOUND: { status: 404, title: "Persisted operation not found" },
  PERSISTED_QUERY_NOT_SUPPORTED: { status: 400, title: "Persisted operations not supported" },
  NOT_ACCEPTABLE: { status: 406, title: "Not acceptable" },
  REQUEST_TIMEOUT: { status: 408, title: "Request timeout" },
  RESPONSE_TOO_LARGE: { status: 400, title: "Response too large" },
  PRECONDITION_FAILED: { status: 412, title: "Precondition failed" },
  PAYLOAD_TOO_LARGE: { status: 413, title: "Payload too large" },
  URI_TOO_LONG: { status: 414, title: "URI too long" },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, title: "Unsupported media type" },
  TOO_EARLY: { status: 425, title: "Show not started" },
  UPGRADE_REQUIRED: { status: 426, title: "WebSocket not supported" },
  IDEMPOTENCY_KEY_REUSED: { status: 422, title: "Idempotency key used for another request" },
  IDEMPOTENCY_KEY_IN_USE: { status: 409, title: "Idempotency key in use" },
  RATE_LIMITED: { status: 429, title: "Too many requests" },
  HEADERS_TOO_LARGE: { status: 431, title: "Request header fields too large" },
  CLIENT_CLOSED_REQUEST: { status: 499, title: "Client closed request" },
  INTERNAL: { status: 500, title: "Internal error" },
  UNAVAILABLE: { status: 503, title: "Service unavailable" },
};

/** An error in REST (RFC 9457), with the code and its problems. */
export interface ProblemDetails {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: ErrorCode;
  readonly errors: readonly Problem[];
  /** The number of all problems; `errors` lists the first 100. */
  readonly errorsTotal: number;
  /** Only with INTERNAL, for reports. */
  readonly requestId?: string;
}

export const problemMediaType = "application/problem+json";

/** The type is a URN, because there is nothing to fetch. */
export function problemDetails(
  message: string,
  { code, errors, errorsTotal, requestId }: ErrorExtensions,
): ProblemDetails {
  const { status, title } = problemTypes[code];
  return {
    type: `urn:vitrine:problem:${code.toLowerCase().replaceAll("_", "-")}`,
    title,
    status,
    detail: message,
    code,
    errors,
    errorsTotal,
    ...(requestId !== undefined && { requestId }),
  };
}
