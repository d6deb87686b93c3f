import { LRUCache } from "lru-cache";
import Negotiator from "negotiator";
import { AppError } from "../../errors.js";
import { multipart, serverSentEvents, type StreamFormat } from "./streamFormat.js";
import type { ExecutionResult, GraphQLError } from "graphql";
import { codeOf, extensionsOf } from "../../schema/publicErrors.js";

const json = "application/json";
/** Here the HTTP status says whether the operation was executed. */
export const graphqlJson = "application/graphql-response+json";

export type SingleType = typeof json | typeof graphqlJson;

/** What a request's Accept allows, in its order of preference. */
export interface Accepted {
  /** The media type of a query's or a mutation's result; undefined where only streams are allowed. */
  readonly single: SingleType | undefined;
  /** The format of a subscription's results; undefined where only single results are allowed. */
  readonly stream: StreamFormat | undefined;
  /** The one type of a single result for Yoga, which knows no weights; undefined where nothing is allowed. */
  readonly forYoga: string | undefined;
}

/** With their parameters, so that a range with other values of these does not match. */
const written: ReadonlyMap<string, string> = new Map([
  [`${json};charset=utf-8`, json],
  [`${graphqlJson};charset=utf-8`, graphqlJson],
  ["text/event-stream;charset=utf-8", "text/event-stream"],
  ["multipart/mixed;boundary=graphql;subscriptionSpec=1.0", "multipart/mixed"],
]);
const html = "text/html";

/** Clients send a few hundred characters; reading takes time that grows with the number of ranges. */
const acceptLengthMax = 2_000;
const known = new LRUCache<string, Accepted>({ max: 500 });

/** Reads Accept (RFC 9110, section 12.5.1): without it, everything is allowed. */
export function readAccept(accept: string | undefined): Accepted {
  const header = accept?.trim() || "*/*"; // an empty one is sent by clients that mean none
  const before = known.get(header);
  if (before !== undefined) return before;
  const read = accepted(preferred(header, [...written.keys()]), header);
  if (header.length <= acceptLengthMax) known.set(header, read);
  return read;
}

/** @throws {AppError} NOT_ACCEPTABLE where none of the types is allowed, before anything is executed */
export function requireAcceptable({ forYoga }: Accepted): void {
  if (forYoga === undefined) throw notAcceptable();
}

/** Whether a page is preferred to the result of an operation. */
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
  // A bare multipart/mixed asks for some other protocol.
  const formats: Readonly<Record<string, StreamFormat>> = {
    "text/event-stream": serverSentEvents,
    ...(/subscriptionspec/iu.test(header) && { "multipart/mixed": multipart }),
  };
  const single = names.find((name): name is SingleType => name === json || name === graphqlJson);
  const stream = names.find((name) => name in formats);
  return { single, stream: stream === undefined ? undefined : formats[stream], forYoga: single ?? names[0] };
}

/**
 * The status of a request error, which has no data, not even null, over application/graphql-response+json (GraphQL over
 * HTTP, section 6.4.2); over application/json it is 200.
 *
 * @param result with errors that presentError() made
 */
export function requestErrorStatus({ data, errors }: ExecutionResult): 400 | 500 | undefined {
  if (data !== undefined || errors === undefined) return undefined;
  return codeOf(errors) === "INTERNAL" ? 500 : 400;
}

/** Tells Yoga the status. Errors that have one, as syntax errors do, keep it. */
export function withRequestErrorStatus(result: ExecutionResult): readonly GraphQLError[] {
  const { errors = [] } = result;
  const status = requestErrorStatus(result);
  if (status === undefined || errors.some(({ extensions }) => extensions.http !== undefined)) return errors;
  const http = { status, spec: true }; // `spec`: not over application/json
  for (const { extensions } of errors) Object.assign(extensions, { http });
  return errors;
}

/**
 * The response to a subscription that cannot be opened now, such as while the server stops: 503 with `Retry-After`, since clients
 * do not open again what was answered with success. Undefined for any other result.
 */
export function unavailableResponse({ errors = [] }: ExecutionResult) {
  const unavailable = errors.map(extensionsOf).find(({ code }) => code === "UNAVAILABLE");
  if (unavailable === undefined) return undefined;
  return { status: 503, headers: { "retry-after": String(unavailable.retryAfterSeconds ?? 1) } };
}

/** How to authenticate: of every 401. */
export const authenticate = { "www-authenticate": 'ApiKey header="X-Service-Access-Token"' };

/**
 * The response to a result whose refusals left no data: 429 with `Retry-After`, 413 for a body that only an import may
 * have, 403 where the token allows none of the fields, or 401 where it has ended meanwhile. Undefined for a result with data in at least one root field,
 * which stays a 200.
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
