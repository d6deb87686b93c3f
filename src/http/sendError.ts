import type { IncomingMessage, ServerResponse } from "node:http";
import type { AppError, ErrorCode } from "../errors.js";
import { readAccept } from "../graphql/accepted.js";
import { authenticate } from "../graphql/httpStatus.js";
import { extensionsOf, presentError } from "../schema/errors.js";
import type { RestResponse } from "../rest/response.js";
import { MethodNotAllowedError } from "../rest/handler.js";
import { problemDetails, type ProblemDetails, problemMediaType, problemTypes } from "../rest/problemDetails.js";
import { acceptedCodings, UnsupportedCodingError } from "./content/contentEncoding.js";
import { respondJson } from "./respond.js";

type ProblemResponse = Extract<RestResponse, { problem: unknown }>;
type Report = (error: unknown) => void;

/** Returns the error's code. Unexpected errors are reported. */
export function sendRestError(
  response: ServerResponse,
  error: unknown,
  requestId: string,
  report: Report = () => undefined,
): ErrorCode {
  const { problem, retryAfterSeconds } = isProblemResponse(error) ? error : toProblemResponse(error, requestId, report);
  respondJson(response, problem.status, problem, problemMediaType, {
    ...headersFor(problem.status, retryAfterSeconds),
    ...headersOf(error),
  });
  return problem.code;
}

export function problemOf(error: AppError): ProblemDetails {
  return toProblemResponse(error, "", () => undefined).problem;
}

/** Refuses a request before GraphQL runs, in the shape of its errors with an HTTP status; returns the code. */
export function sendGraphQLError(
  request: IncomingMessage,
  response: ServerResponse,
  error: unknown,
  requestId: string,
  report: Report,
): ErrorCode {
  if (response.headersSent) {
    report(error);
    response.destroy();
    return "INTERNAL";
  }
  const presented = presentError(error, { requestId, reportError: report });
  const { message, extensions } = presented;
  const { code, retryAfterSeconds } = extensionsOf(presented);
  const { status } = problemTypes[code];
  const mediaType = `${readAccept(request.headers.accept).single ?? "application/json"}; charset=utf-8`;
  respondJson(response, status, { errors: [{ message, extensions }] }, mediaType, {
    ...headersFor(status, retryAfterSeconds),
    ...headersOf(error),
  });
  return code;
}

function isProblemResponse(value: unknown): value is ProblemResponse {
  return typeof value === "object" && value !== null && "problem" in value;
}

function toProblemResponse(error: unknown, requestId: string, report: Report): ProblemResponse {
  const presented = presentError(error, { requestId, reportError: report });
  const extensions = extensionsOf(presented);
  const problem = problemDetails(presented.message, extensions);
  return { status: problem.status, problem, retryAfterSeconds: extensions.retryAfterSeconds };
}

function headersOf(error: unknown): Record<string, string> {
  if (error instanceof MethodNotAllowedError) return { allow: error.allowed.join(", ") };
  return error instanceof UnsupportedCodingError ? { "accept-encoding": acceptedCodings } : {};
}

function headersFor(status: number, retryAfterSeconds: number | undefined): Record<string, string> {
  return {
    ...(retryAfterSeconds !== undefined && { "retry-after": String(retryAfterSeconds) }),
    ...(status === 401 && authenticate),
    ...(status === 426 && { upgrade: "HTTP/1.1", connection: "upgrade, close" }), // RFC 9110, section 15.5.22
  };
}
