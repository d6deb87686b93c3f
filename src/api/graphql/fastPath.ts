import type { ExecutionResult } from "graphql";
import { type Accepted, graphqlJson, refusedResponse, requestErrorStatus, type SingleType } from "./accepted.js";
import { executeOperation, resultText } from "../execution/execute.js";
import { isObject } from "../../lib/json/parseJson.js";
import type { Context } from "../../schema/context.js";
import { codeOf } from "../../schema/publicErrors.js";
import type { KnownOperations } from "../execution/operationCache.js";
import type { Variables } from "../execution/input/inputShape.js";

interface GraphQLAnswer {
  readonly status: number;
  readonly mediaType: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
}

/** Returns undefined, without any effect, if Yoga must answer. */
export type FastPath = (body: unknown, accepted: Accepted, context: Context) => Promise<GraphQLAnswer> | undefined;

/**
 * Answers known operations, even invalid ones, as JSON without Yoga: with the same bytes, at a fraction of its cost. Yoga
 * answers the first use of an operation, and protocol errors.
 */
export function createFastPath(known: KnownOperations): FastPath {
  return (body, { single: mediaType }, context) => {
    const call = mediaType === undefined ? undefined : readCall(body);
    const operation = call === undefined ? undefined : known.find(call.query, call.operationName);
    if (mediaType === undefined || call === undefined) return undefined;
    const answer = (result: ExecutionResult) => answerOf(result, mediaType);
    if (operation !== undefined) return executeOperation(operation, call.variables, context).then(answer);
    const errors = known.findErrors(call.query);
    if (errors === undefined) return undefined;
    context.observation.refused(codeOf(errors));
    return Promise.resolve(answer({ errors }));
  };
}

function answerOf(result: ExecutionResult, mediaType: SingleType): GraphQLAnswer {
  const refused = refusedResponse(result);
  return {
    status: refused?.status ?? (mediaType === graphqlJson ? requestErrorStatus(result) : undefined) ?? 200,
    mediaType: `${mediaType}; charset=utf-8`,
    headers: refused?.headers ?? {},
    body: resultText(result),
  };
}

export interface Call {
  readonly query: string;
  readonly operationName: string | undefined;
  readonly variables: Variables;
}

/** Undefined if parameters have wrong types, which Yoga refuses. */
export function readCall(value: unknown): Call | undefined {
  if (!isObject(value)) return undefined;
  const { query, operationName = null, variables = null, extensions = null } = value;
  if (typeof query !== "string" || (operationName !== null && typeof operationName !== "string")) return undefined;
  if (!isObjectOrNull(variables) || !isObjectOrNull(extensions)) return undefined;
  return { query, operationName: operationName ?? undefined, variables: variables ?? {} };
}

function isObjectOrNull(value: unknown): value is Variables | null {
  return value === null || isObject(value);
}
