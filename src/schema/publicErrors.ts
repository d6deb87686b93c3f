import { GraphQLError } from "graphql";
import { mapDatabaseError } from "../database/databaseErrors.js";
import { AppError, type ErrorCode, type Problem } from "../errors.js";
import { clip } from "../lib/text.js";

export interface ErrorExtensions {
  readonly code: ErrorCode;
  readonly errors: readonly Problem[];
  readonly errorsTotal: number;
  readonly requestId?: string;
  readonly retryAfterSeconds?: number;
}

interface Reporting {
  readonly requestId: string;
  readonly reportError: (error: unknown) => void;
}

/** For errors that no single request causes. */
export const anonymousReporting = {
  requestId: "unknown",
  reportError: (error: unknown) => process.emitWarning(error instanceof Error ? error : String(error)),
} satisfies Reporting;

/**
 * Turns anything thrown into an error for callers. AppErrors keep their message; GraphQL's own errors get a code;
 * anything else is reported and becomes INTERNAL.
 */
export function presentError(error: unknown, reporting: Reporting): GraphQLError {
  const graphQLError = error instanceof GraphQLError ? error : undefined;
  const thrown = mapDatabaseError(originOf(error));
  if (thrown instanceof AppError) return withExtensions(thrown.message, extensionsFrom(thrown), graphQLError);
  if (thrown === undefined && graphQLError !== undefined) return withCode(graphQLError);
  reporting.reportError(thrown ?? error);
  const { requestId } = reporting;
  const internal = new AppError(
    "INTERNAL",
    "Something went wrong on our side. Please give the requestId when you report it.",
  );
  return withExtensions(internal.message, { ...extensionsFrom(internal), requestId }, graphQLError);
}

export function codeOf([error]: readonly GraphQLError[]): ErrorCode {
  return (error?.extensions as ErrorExtensions | undefined)?.code ?? "INTERNAL";
}

/** The extensions that presentError put into an error. */
export function extensionsOf({ extensions }: Pick<GraphQLError, "extensions">): ErrorExtensions {
  return extensions as unknown as ErrorExtensions;
}

function extensionsFrom({ code, problems, problemsTotal, retryAfterSeconds }: AppError): ErrorExtensions {
  return {
    code,
    errors: problems,
    errorsTotal: problemsTotal,
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  };
}

/** The error that a resolver threw; undefined for GraphQL's own errors. */
function originOf(error: unknown): unknown {
  let current = error;
  while (current instanceof GraphQLError) current = current.originalError;
  return current;
}

/** GraphQL's messages repeat literals of any length. */
const messageMax = 1_000;

/** Adds a code to errors of syntax, validation and the like that have none. */
function withCode(error: GraphQLError): GraphQLError {
  const extensions = error.extensions as typeof error.extensions | undefined; // graphql-jit's errors may have none
  if (Array.isArray(extensions?.["errors"])) return error;
  const http = extensions?.http;
  const inOperation = error.locations !== undefined && error.path !== undefined;
  const code: ErrorCode =
    http?.status === 405 ? "METHOD_NOT_ALLOWED" : inOperation ? "VALIDATION_FAILED" : "BAD_REQUEST";
  const message = clip(error.message, messageMax);
  const errors: Problem[] = [{ code, message, path: [] }];
  return withExtensions(message, { code, errors, errorsTotal: 1, ...(http === undefined ? {} : { http }) }, error);
}

function withExtensions(message: string, extensions: object, from?: GraphQLError): GraphQLError {
  const { nodes = null, source = null, positions = null, path = null, locations } = from ?? {};
  const error = new GraphQLError(message, { nodes, source, positions, path, extensions: { ...extensions } });
  // Errors of compiled operations have locations without nodes.
  return error.locations === undefined && locations !== undefined ? Object.assign(error, { locations }) : error;
}
