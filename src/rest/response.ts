import type { ExecutionResult } from "graphql";
import type { Variables } from "../execution/input/inputShape.js";
import type { FileReading } from "../schema/context.js";
import { extensionsOf } from "../schema/errors.js";
import type { RestOperation } from "./routes/derivation.js";
import { problemDetails, type ProblemDetails } from "./problemDetails.js";

export type RestResponse =
  | { readonly status: 200; readonly body: unknown }
  | { readonly status: number; readonly problem: ProblemDetails; readonly retryAfterSeconds: number | undefined };

/** @param reading what reading a file showed */
export function toRestResponse(
  { data, errors }: ExecutionResult,
  route: RestOperation,
  variables: Variables,
  reading: FileReading | undefined,
): RestResponse {
  const [error] = errors ?? [];
  if (error === undefined) {
    return { status: 200, body: withReading(shown(data?.[route.operation], route, variables), reading) };
  }
  const extensions = extensionsOf(error);
  const problem = problemDetails(error.message, extensions);
  return { status: problem.status, problem, retryAfterSeconds: extensions.retryAfterSeconds };
}

/** Adds what reading a file showed, where that was asked for. */
function withReading(body: unknown, { format, notes, preview }: FileReading = {}): unknown {
  if (format === undefined && preview === undefined) return body;
  return {
    ...(body as object),
    ...(format !== undefined && { format, notes }),
    ...(preview !== undefined && { products: preview }),
  };
}

/** Omits the fields that are shown on demand only. */
function shown(body: unknown, { shownOnDemand = [] }: RestOperation, variables: Variables): unknown {
  const omitted = shownOnDemand.flatMap(({ fields, argument, value }) => (variables[argument] === value ? [] : fields));
  if (omitted.length === 0) return body;
  return Object.fromEntries(Object.entries(body as object).filter(([name]) => !omitted.includes(name)));
}
