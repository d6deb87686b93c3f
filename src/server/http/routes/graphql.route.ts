import type { IncomingMessage, ServerResponse } from "node:http";
import { type Accepted, prefersPage, readAccept, requireAcceptable } from "../../../api/graphql/accepted.js";
import { AppError } from "../../../errors.js";
import type { Context } from "../../../schema/context.js";
import type { EventStream, OpenEventStream } from "../../../api/graphql/eventStream.js";
import { type FastPath, readCall } from "../../../api/graphql/fastPath.js";
import { graphqlPath } from "../../../api/graphql/gateway.js";
import {
  readSearch,
  refuseLongText,
  refuseMalformedSearch,
  refuseParametersBesideBody,
  refuseRepeatedParameters,
  requireQuery,
  withoutUnknown,
} from "../../../api/graphql/parameters.js";
import type { PersistedOperations } from "../../../api/graphql/persisted.js";
import { longFromBytes } from "../../../lib/json/scanJson.js";
import { type BodyBudget, readBody, requireJson } from "../../content/body.js";
import { sendEvents } from "../sendEvents.js";
import { conditionNotTaken, conditionOf, addVary, markPrivate, respond } from "../respond.js";
import { type Exchange, isRead, type Route } from "../exchange.js";
import { type ContextOptions, createContext, fingerprintScope, refuseKey, withIdempotency } from "../requestContext.js";
import { graphiqlPage, servesGraphiql } from "../../pages/graphiql/graphiql.js";
import { createTokenPage, type DemoToken } from "../../pages/pageToken.js";
import { sendGraphQLError } from "../sendError.js";

export interface GraphQLRouteOptions extends ContextOptions {
  readonly gateway: (request: IncomingMessage, response: ServerResponse, context: Context) => unknown;
  readonly fastPath: FastPath;
  readonly openEventStream: OpenEventStream;
  readonly persisted: PersistedOperations;
  readonly demoToken: DemoToken;
  readonly bodies: BodyBudget;
}

interface ForYoga {
  readonly request: IncomingMessage;
  readonly context: Context;
}

/** The page for browsers is public. Operations are authenticated before their body is read. */
export function createGraphQLRoute(options: GraphQLRouteOptions): Route {
  const { gateway, config, log } = options;
  const page = servesGraphiql(config) ? createTokenPage(graphiqlPage, options.demoToken) : undefined;
  return async (exchange) => {
    const { request, response, observation } = exchange;
    observation.route = graphqlPath;
    if (isWebSocketHandshake(request)) {
      return sendGraphQLError(exchange, new AppError("UPGRADE_REQUIRED", noWebSockets));
    }
    if (isRead(request)) {
      addVary(response, "Accept");
      if (page !== undefined && prefersPage(request.headers.accept)) return page(exchange);
      markPrivate(response);
    }
    try {
      const context = await createContext(options, exchange, false);
      const accepted = readAccept(request.headers.accept);
      requireAcceptable(accepted);
      const answerWithoutYoga = request.method === "POST" ? answerPost : answerGet;
      const rest = await answerWithoutYoga(options, exchange, context, accepted);
      if (rest === undefined) return;
      if ("events" in rest) return await sendEvents(response, rest, context.access.disconnectSignal());
      request.headers.accept = accepted.forYoga;
      await gateway(rest.request, response, rest.context);
    } catch (error) {
      sendGraphQLError(exchange, error, log);
    }
  };
}

function isWebSocketHandshake({ headers }: IncomingMessage): boolean {
  return headers.upgrade !== undefined && /\bwebsocket\b/iu.test(headers.upgrade);
}

const noWebSockets =
  "WebSockets are not supported: subscriptions are opened by GET or POST, with Accept text/event-stream (graphql-sse) or multipart/mixed;subscriptionSpec=1.0 (Apollo Client).";

/** Returns what Yoga must answer, or a stream. A stream does not keep the body in memory. */
async function answerPost(
  { fastPath, openEventStream, persisted, bodies, config }: GraphQLRouteOptions,
  { request, response, search }: Exchange,
  created: Context,
  accepted: Accepted,
): Promise<ForYoga | EventStream | undefined> {
  if (search !== "") refuseParametersBesideBody(search);
  if (conditionOf(request) !== undefined) throw conditionNotTaken();
  requireJson(request); // Yoga would accept other media types, and repair broken UTF-8
  const share = bodies.shareFor(response, created.identity.storeId);
  const body = await readBody(request, response, {
    bytesMax: config.bodyBytesMax,
    share,
    parent: ["variables"],
    fingerprintScope: fingerprintScope(request, graphqlPath),
  });
  const { value: sent, unparsed, length: bodyLength } = body;
  const withBody =
    bodyLength >= longFromBytes ? { ...created, sent: { ...created.sent, unparsed, bodyLength } } : created;
  const context = withIdempotency(withBody, request, body.fingerprint);
  refuseLongText(sent);
  const value = withoutUnknown(persisted.resolve(sent));
  if (search === "") {
    const answered = fastPath(value, accepted, context);
    if (answered !== undefined) {
      const { status, mediaType, body: text, headers } = await answered;
      respond(response, status, mediaType, text, headers);
      return undefined;
    }
  }
  const stream = openEventStream(readCall(value), accepted, context);
  if (stream !== undefined) {
    refuseKey(request);
    return stream;
  }
  requireQuery(value);
  const isUnchanged = value === sent && unparsed.size === 0;
  const yogaBody = isUnchanged ? body.frame : Buffer.from(JSON.stringify(value));
  return { request: toYogaRequest(request, yogaBody, search), context };
}

async function answerGet(
  { openEventStream, persisted }: GraphQLRouteOptions,
  { request, search }: Exchange,
  context: Context,
  accepted: Accepted,
): Promise<ForYoga | EventStream | undefined> {
  refuseKey(request);
  refuseRepeatedParameters(search);
  const parameters = isRead(request) ? persisted.resolveSearch(search) : search;
  refuseMalformedSearch(search);
  const call = request.method === "GET" ? readCall(readSearch(parameters)) : undefined;
  const stream = openEventStream(call, accepted, context);
  if (stream !== undefined) return stream;
  return { request: toYogaRequest(request, undefined, parameters), context };
}

/**
 * Makes the request that Yoga needs: with the body that we have read, with persisted operations replaced in the query string, and with a
 * valid Host header, because Yoga builds a URL from it. The content type is lower case, because Yoga compares its case.
 */
function toYogaRequest(request: IncomingMessage, body: Buffer | undefined, search: string): IncomingMessage {
  if (search !== "") request.url = `${graphqlPath}?${search}`;
  request.headers.host = "localhost";
  if (body !== undefined) request.headers["content-type"] = "application/json";
  return Object.assign(request, { body });
}
