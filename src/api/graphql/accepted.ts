import { LRUCache } from "lru-cache";
import Negotiator from "negotiator";
import { AppError } from "../../errors.js";
import { multipart, serverSentEvents, type StreamFormat } from "./streamFormat.js";
import type { ExecutionResult, GraphQLError } from "graphql";
import { codeOf, extensionsOf } from "../../schema/publicErrors.js";

const json = "application/json";
/** With this type, the HTTP status says whether the operation was executed. */
export const graphqlJson = "application/graphql-response+json";

export type SingleType = typeof json | typeof graphqlJson;

/** What a request's Accept header prefers. */
export interface Accepted {
  /** The media type for the result of a query or mutation; undefined if only streams are allowed. */
  readonly single: SingleType | undefined;
  /** The format for the results of a subscription; undefined if only single results are allowed. */
  readonly stream: StreamFormat | undefined;
  /** One type for Yoga, which ignores weights; undefined if nothing is allowed. */
  readonly forYoga: string | undefined;
}

/** Media types with their parameters, so that a range with other values of these does not match. */
const written: ReadonlyMap<string, string> = new Map([
  [`${json};charset=utf-8`, json],
  [`${graphqlJson};charset=utf-8`, graphqlJson],
  ["text/event-stream;charset=utf-8", "text/event-stream"],
  ["multipart/mixed;boundary=graphql;subscriptionSpec=1.0", "multipart/mixed"],
]);
const html = "text/html";

/** Clients send at most a few hundred characters. The time to read a header grows with the number of its ranges. */
const acceptLengthMax = 2_000;
const known = new LRUCache<string, Accepted>({ max: 500 });

/** Reads Accept (RFC 9110, section 12.5.1). Without it, everything is allowed. */
export function readAccept(accept: string | undefined): Accepted {
  const header = accept?.trim() || "*/*"; // clients that send it empty mean none
  const before = known.get(header);
  if (before !== undefined) return before;
  const read = accepted(preferred(header, [...written.keys()]), header);
  if (header.length <= acceptLengthMax) known.set(header, read);
  return read;
}

/** Call this before anything is executed. @throws {AppError} NOT_ACCEPTABLE if none of the types is allowed */
export function requireAcceptable({ forYoga }: Accepted): void {
  if (forYoga === undefined) throw notAcceptable();
}

/** Whether the client prefers a page to the result of an operation. */
export function prefersPage(accept: string | undefined): boolean {
  return accept !== undefined && preferred(accept, [...written.keys(), html])[0] === html;
}

export function notAcceptable(): AppError {
  return new AppError(
    "NOT_ACCEPTABLE",
    "Operations are answered as application/json or application/graphql-response+json, subscriptions as text/event-stream or multipart/mixed;subscriptionSpec=1.0.",
  );
}

function preferred(accept: string, types: string[]): string[] {
  return accept.length > acceptLengthMax ? [] : new Negotiator({ headers: { accept } }).mediaTypes(types);
}

function accepted(types: readonly string[], header: string): Accepted {
  const names = types.map((type) => written.get(type) ?? "");
  // multipart/mixed without a parameter means another protocol.
  const formats: Readonly<Record<string, StreamFormat>> = {
    "text/event-stream": serverSentEvents,
    ...(/subscriptionspec/iu.test(header) && { "multipart/mixed": multipart }),
  };
  const single = names.find((name): name is SingleType => name === json || name === graphqlJson);
  const stream = names.find((name) => name in formats);
  return { single, stream: stream === undefined ? undefined : formats[stream], forYoga: single ?? names[0] };
}

/**
 * The status of a request error, that is of a result without `data`, over application/graphql-response+json (GraphQL over
 * HTTP, section 6.4.2). Over application/json, the status is 200.
 *
 * @param result its errors must come from presentError()
 */
export function requestErrorStatus({ data, errors }: ExecutionResult): 400 | 500 | undefined {
  if (data !== undefined || errors === undefined) return undefined;
  return codeOf(errors) === "INTERNAL" ? 500 : 400;
}

/** Tells Yoga the status. Errors that already have one, such as syntax errors, keep it. */
export function withRequestErrorStatus(result: ExecutionResult): readonly GraphQLError[] {
  const { errors = [] } = result;
  const status = requestErrorStatus(result);
  if (status === undefined || errors.some(({ extensions }) => extensions.http !== undefined)) return errors;
  const http = { status, spec: true }; // `spec` excludes application/json
  for (const { extensions } of errors) Object.assign(extensions, { http });
  return errors;
}

/**
 * The response if a subscription cannot be opened now, for example because the server stops: 503 with `Retry-After`, because
 * clients do not retry after a success. Undefined for any other result.
 */
export function unavailableResponse({ errors = [] }: ExecutionResult) {
  const unavailable = errors.map(extensionsOf).find(({ code }) => code === "UNAVAILABLE");
  if (unavailable === undefined) return undefined;
  return { status: 503, headers: { "retry-after": String(unavailable.retryAfterSeconds ?? 1) } };
}

/** The header of every 401, which says how to authenticate. */
export const authenticate = { "www-authenticate": 'ApiKey header="X-Service-Access-Token"' };

/**
 * The response if all root fields were refused: 429 with `Retry-After`, 413 for a body that only an import may have, 403 if the token
 * allows none of the fields, or 401 if it has ended since. Undefined if at least one root field has data: then the status is 200.
 */
export function refusedResponse({ data, errors = [] }: ExecutionResult) {
  if (errors.length === 0 || Object.values(data ?? {}).some((value) => value !== null)) return undefined;
  const extensions = errors.map(extensionsOf);
  if (extensions.some(({ code }) => code === "PAYLOAD_TOO_LARGE")) return { status: 413, headers: {} };
  if (extensions.every(({ code }) => code === "FORBIDDEN")) return { status: 403, headers: {} };
  if (extensions.every(({ code }) => code === "UNAUTHENTICATED")) return { status: 401, headers: authenticate };
  const refused = extensions.find(({ code }) => code === "RATE_LIMITED");
  if (refused === undefined) return undefined;
  return { status: 429, headers: { "retry-after": String(refused.retryAfterSeconds) } };
}
