import type { Logger } from "pino";
import type { AppError, ErrorCode } from "../../errors.js";
import { readAccept, authenticate } from "../../api/graphql/accepted.js";
import { extensionsOf, presentError } from "../../schema/publicErrors.js";
import { type RestResponse, MethodNotAllowedError } from "../../api/rest/handler.js";
import { problemDetails, type ProblemDetails, problemMediaType, problemTypes } from "../../api/rest/problemDetails.js";
import { acceptedCodings, UnsupportedCodingError } from "../content/body.js";
import type { Exchange } from "./exchange.js";
import { respondJson } from "./respond.js";

type ProblemResponse = Extract<RestResponse, { problem: unknown }>;
type Report = (error: unknown) => void;

/**
 * Answers with an error as REST does, and notes its code. Logs unexpected errors.
 *
 * @param titles of codes for which the usual titles are wrong
 */
export function sendRestError(
  { response, requestId, observation }: Exchange,
  error: unknown,
  log?: Logger,
  titles: Partial<Record<ErrorCode, string>> = {},
): void {
  const answer = isProblemResponse(error) ? error : toProblemResponse(error, requestId, reporter(requestId, log));
  const { retryAfterSeconds } = answer;
  const problem = { ...answer.problem, title: titles[answer.problem.code] ?? answer.problem.title };
  respondJson(response, problem.status, problem, problemMediaType, {
    ...headersFor(problem.status, retryAfterSeconds),
    ...headersOf(error),
  });
  observation.refused(problem.code);
}

export function problemOf(error: AppError): ProblemDetails {
  return toProblemResponse(error, "", () => undefined).problem;
}

/** Refuses a request before GraphQL runs, with an HTTP status and the shape of GraphQL errors. Logs unexpected errors. */
export function sendGraphQLError(exchange: Exchange, error: unknown, log?: Logger): void {
  const { request, response, requestId, observation } = exchange;
  const reportError = reporter(requestId, log);
  if (response.headersSent) {
    reportError(error);
    response.destroy();
    return observation.refused("INTERNAL");
  }
  const presented = presentError(error, { requestId, reportError });
  const { message, extensions } = presented;
  const { code, retryAfterSeconds } = extensionsOf(presented);
  const { status } = problemTypes[code];
  const mediaType = `${readAccept(request.headers.accept).single ?? "application/json"}; charset=utf-8`;
  respondJson(response, status, { errors: [{ message, extensions }] }, mediaType, {
    ...headersFor(status, retryAfterSeconds),
    ...headersOf(error),
  });
  observation.refused(code);
}

function reporter(requestId: string, log: Logger | undefined): Report {
  return (error) => log?.error({ requestId, err: error }, "request failed");
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
