import { forbidden } from "../../../schema/scopes.js";
import { type Reservation, tooManyCalls } from "../../../schema/limits/policies.js";
import { keyInUse, keyReused } from "../../../catalog/import/idempotentImport.js";
import { tooManyDeletions } from "../../../catalog/import/modes/mode.js";
import {
  AppError,
  errorAt,
  type ErrorCode,
  errorCodes,
  placeCodes,
  Problems,
  problemsListedMax,
  validationFailed,
} from "../../../errors.js";
import { invalidJson } from "../../../lib/json/parseJson.js";
import { pathNotFound } from "../../rest/handler.js";
import { responseTooLarge } from "../../../schema/limits/responseBudget.js";
import { extensionsOf, presentError } from "../../../schema/publicErrors.js";
import type { ApiLimits, JsonSchemas } from "../types.js";
import { bodyTypesOf, type RestRoute } from "../../rest/routes/route.js";
import { problemDetails, type ProblemDetails } from "../../rest/problemDetails.js";

/** Problem details, as src/api/rest/problemDetails.ts makes them. */
export const problemSchemas: JsonSchemas = {
  ErrorCode: {
    type: "string",
    description: "The kind of an error, or of a problem at one place.",
    enum: Object.keys({ ...errorCodes, ...placeCodes }).toSorted(),
  },
  ProblemDetailsCode: {
    type: "string",
    description: "The kind of problem, for programs.",
    enum: Object.keys(errorCodes),
  },
  ProblemDetails: {
    type: "object",
    description: "What went wrong: problem details as in RFC 9457, with a code and every problem found.",
    required: ["type", "title", "status", "detail", "code", "errors", "errorsTotal"],
    properties: {
      type: { type: "string", format: "uri", description: "A name for the kind of problem. It cannot be fetched." },
      title: { type: "string", description: "The kind of problem, for people." },
      status: { type: "integer", format: "int32", description: "The HTTP status." },
      detail: { type: "string", description: "What went wrong this time, for people." },
      code: { $ref: "#/components/schemas/ProblemDetailsCode" },
      errors: {
        type: "array",
        minItems: 1,
        maxItems: problemsListedMax,
        items: { $ref: "#/components/schemas/Problem" },
        description: `The problems found, the first ${problemsListedMax} of them.`,
      },
      errorsTotal: { type: "integer", format: "int32", minimum: 1, description: "How many problems were found." },
      requestId: { type: "string", description: "Only with INTERNAL: name it when you report the error." },
    },
  },
  Problem: {
    type: "object",
    description: "What is wrong at one place of the input.",
    required: ["code", "message", "path"],
    properties: {
      code: { $ref: "#/components/schemas/ErrorCode" },
      message: { type: "string" },
      path: {
        type: "array",
        items: { type: ["string", "integer"] },
        description:
          'Steps from the root of the input to the place: ["products", 3, "price"]. Empty if there is no place.',
      },
      line: {
        type: "integer",
        format: "int32",
        minimum: 1,
        description: "In CSV: the line on which the row starts; line 1 is the header.",
      },
    },
  },
};

/** The answer to an error, made like real answers. */
function problemExample(error: unknown): ProblemDetails {
  const presented = presentError(error, { requestId: exampleRequestId, reportError: () => undefined });
  return problemDetails(presented.message, extensionsOf(presented));
}

/** What the rate limit headers of examples show. */
export const exampleReservation: Reservation = {
  policy: { name: "analytics", callsMax: 100, windowMs: 60_000 },
  isGranted: true,
  callsLeft: 57,
  resetMs: 32_000,
};

export const exampleRequestId = "0f8b6c1e-6d0a-4f0c-9a5e-3b1f2f6a7c55";

const siteNotFound = "The store has no site with this siteId. An operator adds it with `npx vitrine site add`.";
const productNotFound = "The store has no product with this reference id or SKU.";

/** Errors for operations that have no other example. test/api/rest/openapi.test.ts compares them with real answers. */
function commonErrors({ bodyBytesMax }: Pick<ApiLimits, "bodyBytesMax">): Readonly<Record<ErrorCode, unknown>> {
  return {
    BAD_REQUEST: invalidJson(Buffer.from("{"), 1),
    VALIDATION_FAILED: errorAt("VALIDATION_FAILED", "The input is not valid.", []),
    SITE_NOT_FOUND: errorAt("SITE_NOT_FOUND", siteNotFound, ["siteId"]),
    PRODUCT_NOT_FOUND: errorAt("PRODUCT_NOT_FOUND", productNotFound, ["productId"]),
    TOO_MANY_DELETIONS: tooManyDeletions("remove 900 of 1000 products, but maxDeletions allows 100"),
    UNAUTHENTICATED: new AppError("UNAUTHENTICATED", "The header X-Service-Access-Token is missing."),
    FORBIDDEN: forbidden("catalog:read"),
    LIVE_STREAM_NOT_FOUND: errorAt("LIVE_STREAM_NOT_FOUND", "The store has no live stream with this id.", ["lsId"]),
    MOMENT_NOT_FOUND: errorAt("MOMENT_NOT_FOUND", "The show has no moment with this id.", ["id"]),
    ORDER_NOT_FOUND: errorAt("ORDER_NOT_FOUND", "The store has no order with this id.", ["id"]),
    NOT_FOUND: pathNotFound(),
    METHOD_NOT_ALLOWED: new AppError("METHOD_NOT_ALLOWED", "This path accepts POST."),
    PERSISTED_QUERY_NOT_FOUND: new AppError("PERSISTED_QUERY_NOT_FOUND", "PersistedQueryNotFound"),
    PERSISTED_QUERY_NOT_SUPPORTED: new AppError("PERSISTED_QUERY_NOT_SUPPORTED", "PersistedQueryNotSupported"),
    TOO_EARLY: new AppError("TOO_EARLY", "The show is scheduled and takes no events yet.", { retryAfterSeconds: 60 }),
    UPGRADE_REQUIRED: new AppError("UPGRADE_REQUIRED", "WebSockets are not supported."),
    NOT_ACCEPTABLE: new AppError("NOT_ACCEPTABLE", "Operations are answered as application/json."),
    REQUEST_TIMEOUT: new AppError("REQUEST_TIMEOUT", "The request took too long to arrive."),
    PRECONDITION_FAILED: new AppError("PRECONDITION_FAILED", "If-Match does not hold. Nothing was changed."),
    PAYLOAD_TOO_LARGE: new AppError(
      "PAYLOAD_TOO_LARGE",
      `The body may have at most ${bodyBytesMax} bytes (MAX_BODY_BYTES).`,
    ),
    RESPONSE_TOO_LARGE: responseTooLarge(),
    URI_TOO_LONG: new AppError("URI_TOO_LONG", "Path and query string may have at most 8192 characters."),
    UNSUPPORTED_MEDIA_TYPE: new AppError(
      "UNSUPPORTED_MEDIA_TYPE",
      "The content-type must be application/json in UTF-8.",
    ),
    IDEMPOTENCY_KEY_REUSED: keyReused(),
    IDEMPOTENCY_KEY_IN_USE: keyInUse(),
    RATE_LIMITED: tooManyCalls(exampleReservation),
    HEADERS_TOO_LARGE: new AppError("HEADERS_TOO_LARGE", "The headers of the request are too large."),
    CLIENT_CLOSED_REQUEST: new AppError("CLIENT_CLOSED_REQUEST", "The client closed the connection."),
    INTERNAL: new Error("an unexpected one"),
    UNAVAILABLE: Object.assign(new Error("the database refuses connections"), { code: "ECONNREFUSED" }),
  };
}

/** The example of an operation's problem. */
export type ExampleOfProblem = (route: RestRoute, code: ErrorCode) => ProblemDetails;

export function examplesOfProblems(limits: ApiLimits): ExampleOfProblem {
  const common = commonErrors(limits);
  return (route, code) => problemExample(errorOf(route, code) ?? common[code]);
}

/** An error that differs for this operation. */
function errorOf(route: RestRoute, code: ErrorCode): AppError | undefined {
  const { example, method, path } = route;
  if (code === "UNSUPPORTED_MEDIA_TYPE") return new AppError(code, `The content-type must be ${bodyTypesOf(route)}.`);
  const { findProblems } = example;
  if (code === "VALIDATION_FAILED" && findProblems !== undefined) {
    const problems = new Problems();
    findProblems(problems);
    return validationFailed(problems);
  }
  const [, name] = /:(\w+)/u.exec(path) ?? [];
  if (code === "BAD_REQUEST" && method !== "POST" && name !== undefined) {
    return errorAt("BAD_REQUEST", `${name} is not percent-encoded UTF-8.`, [name]);
  }
  return undefined;
}
