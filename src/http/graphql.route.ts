import type { IncomingMessage, ServerResponse } from "node:http";
import { requireAcceptable } from "../graphql/acceptable.js";
import type { Context } from "../schema/context.js";
import type { OpenEventStream } from "../graphql/eventStream.js";
import { type FastPath, readCall } from "../graphql/fastPath.js";
import { graphqlPath } from "../graphql/gateway.js";
import { readSearch, refuseLongText, refuseMalformedSearch, refuseUnknownParameters } from "../graphql/parameters.js";
import type { PersistedOperations } from "../graphql/persisted.js";
import { parseBody } from "../lib/json/body.js";
import { JsonScanner, longFromBytes } from "../lib/json/scan.js";
import { readBody, requireJson } from "./content/body.js";
import type { BodyBudget } from "./content/bodyBudget.js";
import { sendEvents } from "./eventStream.js";
import { isRead, type Route } from "./exchange.js";
import { withIdempotency } from "./idempotency.js";
import { graphiqlPage } from "./pages/graphiql.js";
import { servesGraphiql } from "./pages/graphiql.shown.js";
import { createTokenPage, type DemoToken } from "./pages/token.js";
import { refuseGraphQL } from "./refuse.js";
import { type ContextOptions, createContext } from "./requestContext.js";
import { addVary, markPrivate, respond } from "./respond.js";

export interface GraphQLRouteOptions extends ContextOptions {
  readonly gateway: (request: IncomingMessage, response: ServerResponse, context: Context) => unknown;
  readonly fastPath: FastPath;
  readonly openEventStream: OpenEventStream;
  readonly persisted: PersistedOperations | undefined;
  readonly demoToken: DemoToken;
  readonly bodies: BodyBudget;
}

/** GraphQL: the page for browsers is open; operations need the token before their body is read. */
export function createGraphQLRoute(options: GraphQLRouteOptions): Route {
  const { gateway, fastPath, openEventStream, persisted, bodies, config, log } = options;
  const page = servesGraphiql(config) ? createTokenPage(graphiqlPage, options.demoToken) : undefined;
  return async (exchange) => {
    const { request, response, requestId, observation, search } = exchange;
    observation.route = graphqlPath;
    if (isRead(request)) {
      addVary(response, "Accept");
      if (page !== undefined && (request.headers.accept ?? "").includes("text/html")) return page(exchange);
      markPrivate(response);
    }
    try {
      let context = await createContext(options, exchange);
      let body: Buffer | undefined;
      let parameters = search;
      if (request.method === "POST") {
        requireJson(request); // Yoga would take other media types too, and repair broken UTF-8
        const scanner = new JsonScanner();
        const share = bodies.shareFor(response, context.identity.storeId);
        body = await readBody(request, { bytesMax: config.bodyBytesMax, share, scanner });
        const { value: sent, unparsed, length: bodyLength } = parseBody(body, scanner, ["variables"]);
        if (bodyLength >= longFromBytes) context = { ...context, unparsed, bodyLength };
        context = await withIdempotency(context, request, graphqlPath, body);
        refuseLongText(sent);
        const value = persisted === undefined ? sent : persisted.resolve(sent);
        const answered = search === "" ? fastPath(value, request.headers.accept, context) : undefined;
        if (answered !== undefined) {
          const { status, mediaType, body: text, headers } = await answered;
          return respond(response, status, mediaType, text, headers);
        }
        const stream = search === "" ? openEventStream(readCall(value), request.headers.accept, context) : undefined;
        if (stream !== undefined) return await sendEvents(response, await stream);
        refuseUnknownParameters(value);
        if (value !== sent || unparsed.size > 0) body = Buffer.from(JSON.stringify(value));
      } else {
        if (persisted !== undefined && isRead(request)) parameters = persisted.resolveSearch(search);
        refuseMalformedSearch(search);
        const call = request.method === "GET" ? readCall(readSearch(parameters)) : undefined;
        const stream = openEventStream(call, request.headers.accept, context);
        if (stream !== undefined) return await sendEvents(response, await stream);
      }
      requireAcceptable(request.headers.accept);
      await gateway(toYogaRequest(request, body, parameters), response, context);
    } catch (error) {
      const code = refuseGraphQL(request, response, error, requestId, (unexpected) =>
        log.error({ requestId, err: unexpected }, "request failed"),
      );
      observation.refused(code);
    }
  };
}

/**
 * The request as Yoga is to see it: with the body that has been read, and with the parameters after persisted operations were
 * looked up. Yoga makes a URL of the Host header and fails on one that is malformed, so it gets one that is well-formed;
 * which host it is plays no part.
 */
function toYogaRequest(request: IncomingMessage, body: Buffer | undefined, parameters: string): IncomingMessage {
  if (parameters !== "") request.url = `${graphqlPath}?${parameters}`;
  request.headers.host = "localhost";
  return Object.assign(request, { body });
}
