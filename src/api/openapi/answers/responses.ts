import type { ErrorCode } from "../../../errors.js";
import { notModified, type responseHeaders } from "./headers.js";
import type { ExampleOfProblem } from "./problems.js";
import type { AnswerSchema } from "./answers.js";
import type { ApiLimits } from "../types.js";
import { problemMediaType, problemTypes } from "../../rest/problemDetails.js";
import { type RestRoute, takesBody, takesCondition, takesKey } from "../../rest/routes/route.js";

const requestIdHeader = { "X-Request-Id": header("RequestId") };
const limitHeaders = { RateLimit: header("RateLimit"), "RateLimit-Policy": header("RateLimitPolicy") };

const headersByCode: Readonly<Partial<Record<ErrorCode, object>>> = {
  METHOD_NOT_ALLOWED: { Allow: header("Allow") },
  UNAUTHENTICATED: { "WWW-Authenticate": header("Authenticate") },
  RATE_LIMITED: { "Retry-After": header("RetryAfter"), ...limitHeaders },
  IDEMPOTENCY_KEY_IN_USE: { "Retry-After": header("RetryAfter") },
  UNAVAILABLE: { "Retry-After": header("RetryAfter") },
};

export function describeResponses(
  route: RestRoute,
  success: Pick<AnswerSchema, "schema" | "content"> & { readonly hasDeprecated: boolean },
  limits: ApiLimits,
  exampleOf: ExampleOfProblem,
) {
  const headers = { ...requestIdHeader, ...(isLimited(route, limits) && limitHeaders) };
  const shared = sharedCodes(route, limits);
  const ofBody: readonly ErrorCode[] = takesBody(route) ? ["UNSUPPORTED_MEDIA_TYPE"] : [];
  const ofCondition: readonly ErrorCode[] = takesCondition(route) ? ["PRECONDITION_FAILED"] : [];
  const own = (["BAD_REQUEST", ...ofBody, ...ofCondition, ...route.errors] as const).filter(
    (code) => code !== "RATE_LIMITED" || limits.analyticsRateLimit > 0,
  );
  const ownByStatus = new Map<number, ErrorCode[]>();
  for (const code of new Set(own)) {
    const { status } = problemTypes[code];
    if (!shared.includes(code)) ownByStatus.set(status, [...(ownByStatus.get(status) ?? []), code]);
  }
  const example = route.example.answer;
  const isRead = route.method === "GET";
  const successHeaders = { ...headers, ...headersOfSuccess(route, success.hasDeprecated) };
  return {
    200: {
      description: success.content,
      headers: successHeaders,
      content: { "application/json": { schema: success.schema, ...(example !== undefined && { example }) } },
    },
    ...(isRead && { 304: notModified(successHeaders) }),
    ...Object.fromEntries(
      [...ownByStatus].map(([status, codes]) => [
        status,
        problemResponse(codes, { ...headers, ...ownHeaders(codes) }, (code) => exampleOf(route, code)),
      ]),
    ),
    ...Object.fromEntries(
      shared.map((code) => [problemTypes[code].status, { $ref: `#/components/responses/${pascalCase(code)}` }]),
    ),
    default: { $ref: "#/components/responses/Default" },
  };
}

function headersOfSuccess(route: RestRoute, hasDeprecated: boolean): object {
  return {
    ...(route.method === "GET" && { ETag: header("EntityTag") }),
    ...(hasDeprecated && { Deprecation: header("Deprecation"), Link: header("Link") }),
    ...(takesKey(route) && { "Idempotency-Replayed": header("IdempotencyReplayed") }),
  };
}

/** Errors before an operation is known, or instead of its answer. */
const otherCodes = ["NOT_FOUND", "NOT_ACCEPTABLE", "REQUEST_TIMEOUT", "HEADERS_TOO_LARGE"] as const;

/** Headers that all of these codes have. */
function ownHeaders([code, ...others]: readonly ErrorCode[]): object {
  return code !== undefined && others.length === 0 ? (headersByCode[code] ?? {}) : {};
}

export function sharedResponses(
  routes: readonly RestRoute[],
  limits: ApiLimits,
  exampleOf: ExampleOfProblem,
): Record<string, object> {
  const responses: Record<string, object> = {};
  for (const route of routes) {
    for (const code of sharedCodes(route, limits)) {
      const headers = { ...requestIdHeader, ...headersByCode[code] };
      responses[pascalCase(code)] ??= problemResponse([code], headers, () => exampleOf(route, code));
    }
    responses["Default"] ??= problemResponse(otherCodes, {}, (code) => exampleOf(route, code));
  }
  return responses;
}

function sharedCodes(route: RestRoute, limits: ApiLimits): ErrorCode[] {
  return [
    "UNAUTHENTICATED",
    "FORBIDDEN",
    "METHOD_NOT_ALLOWED",
    "URI_TOO_LONG",
    ...(takesBody(route) ? (["PAYLOAD_TOO_LARGE"] as const) : []),
    ...(isLimited(route, limits) ? (["RATE_LIMITED"] as const) : []),
    "INTERNAL",
    "UNAVAILABLE",
  ];
}

function isLimited({ tag }: RestRoute, { analyticsRateLimit, productRateLimit }: ApiLimits): boolean {
  const limits = { Analytics: analyticsRateLimit, Products: productRateLimit, "Live streams": 0, Orders: 0, Store: 0 };
  return limits[tag] > 0;
}

function problemResponse(codes: readonly ErrorCode[], headers: object, exampleOf: (code: ErrorCode) => unknown) {
  const examples = codes.map((code) => [code, { summary: problemTypes[code].title, value: exampleOf(code) }]);
  return {
    description: `${codes.map((code) => `${problemTypes[code].title} (\`${code}\`)`).join("; ")}.`,
    headers,
    content: {
      [problemMediaType]: {
        schema: { $ref: "#/components/schemas/ProblemDetails" },
        examples: Object.fromEntries(examples) as object,
      },
    },
  };
}

function header(name: keyof typeof responseHeaders) {
  return { $ref: `#/components/headers/${name}` };
}

/** UNSUPPORTED_MEDIA_TYPE becomes UnsupportedMediaType. */
function pascalCase(code: ErrorCode): string {
  return code.toLowerCase().replaceAll(/(?:^|_)(\w)/gu, (_, letter: string) => letter.toUpperCase());
}
