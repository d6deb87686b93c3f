import { GraphQLError } from "graphql";
import { mapDatabaseError } from "../database/errors.js";
import { AppError, type ErrorCode, type Problem } from "../errors.js";
import { clip } from "../lib/text.js";

/** What an error carries in `extensions`, in both styles: REST writes the same into its problem details. */
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

/**
 * Turns whatever was thrown into an error that callers may see. AppErrors speak for themselves; what GraphQL itself
 * refuses gets a code; anything else is reported, and answered as INTERNAL with the id of the request.
 */
export function presentError(error: unknown, reporting: Reporting): GraphQLError {
  const graphQLError = error instanceof GraphQLError ? error : undefined;
  const thrown = mapDatabaseError(originOf(error));
  if (thrown instanceof AppError) return withExtensions(thrown.message, extensionsOf(thrown), graphQLError);
  if (thrown === undefined && graphQLError !== undefined) return graphQLsOwn(graphQLError);
  reporting.reportError(thrown ?? error);
  const { requestId } = reporting;
  const internal = new AppError(
    "INTERNAL",
    "Something went wrong on our side. Please give the requestId when you report it.",
  );
  return withExtensions(internal.message, { ...extensionsOf(internal), requestId }, graphQLError);
}

/** The code of the first of some errors that presentError() made. */
export function codeOf([error]: readonly GraphQLError[]): ErrorCode {
  return (error?.extensions as ErrorExtensions | undefined)?.code ?? "INTERNAL";
}

function extensionsOf({ code, problems, problemsTotal, retryAfterSeconds }: AppError): ErrorExtensions {
  return {
    code,
    errors: problems,
    errorsTotal: problemsTotal,
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  };
}

/** The innermost error; undefined for an error that GraphQL itself made. Wrappers may nest. */
function originOf(error: unknown): unknown {
  let current = error;
  while (current instanceof GraphQLError) current = current.originalError;
  return current;
}

/** GraphQL repeats literals in what it says of them, whatever their length. */
const messageMax = 1_000;

/** Syntax, validation and the like. One whose extensions have the code already went through here before. */
function graphQLsOwn(error: GraphQLError): GraphQLError {
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
  // A compiled operation knows its places in the text, but no nodes to find them by.
  return error.locations === undefined && locations !== undefined ? Object.assign(error, { locations }) : error;
}
