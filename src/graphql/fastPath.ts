import { answerType, graphqlJson } from "./acceptable.js";
import { resultText } from "../execution/answerText.js";
import type { Context } from "../schema/context.js";
import { executeOperation } from "../execution/execute.js";
import { refusedResponse, requestErrorStatus } from "./httpStatus.js";
import type { KnownOperations } from "../execution/operationCache.js";
import type { Variables } from "../execution/inputShape.js";

/** An answer to be written. */
interface GraphQLAnswer {
  readonly status: number;
  readonly mediaType: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
}

/** The answer to a POST with this JSON, or undefined for one that Yoga must answer. Nothing has been done then. */
export type FastPath = (
  body: unknown,
  accept: string | undefined,
  context: Context,
) => Promise<GraphQLAnswer> | undefined;

/**
 * The way past Yoga for ordinary POSTs: a known operation, wanted as JSON. They take the same pipeline and are answered
 * byte for byte as Yoga would, at a fraction of its cost. Everything else is left to Yoga: first use of an operation,
 * subscriptions, errors of the protocol.
 */
export function createFastPath(known: KnownOperations): FastPath {
  return (body, accept, context) => {
    const mediaType = answerType(accept?.split(",", 1)[0] ?? "*/*");
    const call = mediaType === undefined ? undefined : readCall(body);
    const operation = call === undefined ? undefined : known.find(call.query, call.operationName);
    if (mediaType === undefined || call === undefined || operation === undefined) return undefined;
    return executeOperation(operation, call.variables, context).then((result) => {
      const refused = refusedResponse(result);
      return {
        status: refused?.status ?? (mediaType === graphqlJson ? requestErrorStatus(result) : undefined) ?? 200,
        mediaType: `${mediaType}; charset=utf-8`,
        headers: refused?.headers ?? {},
        body: resultText(result),
      };
    });
  };
}

/** What a request asks for. */
export interface Call {
  readonly query: string;
  readonly operationName: string | undefined;
  readonly variables: Variables;
}

/** What is called; undefined for anything but an object of the members that clients send, rightly typed. */
export function readCall(value: unknown): Call | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  for (const name in value) {
    if (name !== "query" && name !== "operationName" && name !== "variables" && name !== "extensions") return undefined;
  }
  const { query, operationName, variables, extensions } = value as Record<string, unknown>;
  if (typeof query !== "string") return undefined;
  if (operationName !== undefined && operationName !== null && typeof operationName !== "string") return undefined;
  if (typeof variables !== "object" && variables !== undefined) return undefined;
  if (Array.isArray(variables)) return undefined;
  if (typeof extensions !== "object" && extensions !== undefined) return undefined; // nothing is done with them
  if (Array.isArray(extensions)) return undefined;
  return { query, operationName: operationName ?? undefined, variables: (variables ?? {}) as Variables };
}
