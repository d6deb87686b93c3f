import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Logger } from "pino";
import { type Identify, tokenHeader } from "../access/identity.js";
import type { RateLimits } from "../access/rateLimit.js";
import type { LiveFeed } from "../analytics/feed.js";
import { AppError } from "../errors.js";
import type { Context } from "../graphql/context.js";
import type { FastLane } from "../graphql/fastLane.js";
import { requireAcceptable } from "../graphql/acceptable.js";
import { graphqlPath } from "../graphql/gateway.js";
import type { PersistedOperations } from "../graphql/persisted.js";
import { refuseMalformedSearch, refuseUnknownParameters } from "../graphql/parameters.js";
import { parseJson } from "../json.js";
import { MethodNotAllowedError, type RestCall, type RestHandler } from "../rest/handler.js";
import { restBase } from "../rest/routes.js";
import { readBody, requireJson } from "./body.js";
import { allowedMethods, applyCors } from "./cors.js";
import { type Exchange, isRead, type Route } from "./exchange.js";
import { withIdempotency } from "./idempotency.js";
import { graphiqlPage } from "./pages.graphiql.js";
import { servesGraphiql } from "./pages.graphiql.shown.js";
import { createPageRoutes, type PagesOptions } from "./pages.routes.js";
import { createTokenPage } from "./pages.token.js";
import { refuseGraphQL, refuseRest } from "./refuse.js";
import { requestIdOf } from "./requestId.js";
import { addVary, markPrivate, respond, respondJson, respondRead, send } from "./respond.js";
import { problemWith, targetOf } from "./target.js";

type Gateway = (request: IncomingMessage, response: ServerResponse, context: Context) => unknown;

export interface RouterOptions extends PagesOptions {
  readonly log: Logger;
  readonly identify: Identify;
  readonly rateLimits: RateLimits;
  readonly feed: LiveFeed;
  readonly gateway: Gateway;
  readonly fastLane: FastLane;
  readonly persisted: PersistedOperations | undefined;
  readonly rest: RestHandler;
}

/** The whole HTTP surface. Whatever happens, the request is answered. */
export function createRequestListener(options: RouterOptions): RequestListener {
  const { config, log, telemetry } = options;
  const pages = createPageRoutes(options);
  const graphql = createGraphQLRoute(options);
  const rest = createRestRoute(options);

  const route = async (exchange: Exchange): Promise<void> => {
    const { path, response, observation } = exchange;
    if (path === graphqlPath) return graphql(exchange);
    const page = pages.get(path);
    if (page === undefined) return rest(exchange);
    observation.route = path;
    if (isRead(exchange.request)) return page(exchange);
    observation.refused(refuseRest(response, new MethodNotAllowedError(["GET", "HEAD"]), exchange.requestId));
  };

  return (request, response) => {
    const requestId = requestIdOf(request);
    const observation = telemetry.observe(request, response, requestId);
    response.setHeader("x-request-id", requestId);
    response.setHeader("x-content-type-options", "nosniff");
    if (applyCors(request, response, config.corsOrigins)) {
      observation.route = "preflight";
      return;
    }
    const target = targetOf(request);
    const problem = problemWith(request);
    const exchange: Exchange = { request, response, requestId, observation, ...target };
    if (problem !== undefined) return refuse(exchange, problem);
    if (target.path === "*" && request.method === "OPTIONS") return answerPing(response);
    const handled = observation.handle(() => route(exchange));
    handled.catch((error: unknown) => {
      // Routes answer their own errors: this is one in answering.
      log.error({ requestId, err: error }, "request failed");
      observation.refused("INTERNAL");
      if (response.headersSent) response.destroy();
      else refuseRest(response, new AppError("INTERNAL", "Something went wrong on our side."), requestId);
    });
  };
}

/** A request that no route looks at. */
function refuse({ request, response, requestId, observation, path }: Exchange, problem: AppError): void {
  const code =
    path === graphqlPath
      ? refuseGraphQL(request, response, problem, requestId, () => undefined)
      : refuseRest(response, problem, requestId);
  observation.refused(code);
}

/** OPTIONS of `*` asks what the server as a whole can do (RFC 9110, section 9.3.7). */
function answerPing(response: ServerResponse): void {
  send(response, 204, { allow: allowedMethods });
}

/** The documented paths: find the operation, then who calls, and only then read the body. */
function createRestRoute(options: RouterOptions): Route {
  const { rest, config, log } = options;
  // A function of its own, so that the bytes of a large body are not kept while its content is worked on.
  const readCall = async (call: RestCall, { request, path, search }: Exchange, context: Context) => {
    if (call.operation.method !== "POST") return { variables: rest.read(call, { search, body: undefined }), context };
    requireJson(request);
    const body = await readBody(request, config.bodyBytesMax);
    return { variables: rest.read(call, { search, body }), context: withIdempotency(context, request, path, body) };
  };
  return async (exchange) => {
    const { request, response, requestId, observation, path } = exchange;
    try {
      if (isRead(request)) markPrivate(response);
      if (!path.startsWith(restBase)) throw new AppError("NOT_FOUND", "There is nothing at this path.");
      const call = rest.find(request.method ?? "", path);
      observation.route = call.operation.route;
      const { variables, context } = await readCall(call, exchange, await createContext(options, exchange));
      const answer = await rest.run(call, variables, context);
      if ("problem" in answer) refuseRest(response, answer, requestId);
      else if (isRead(request)) respondRead(response, JSON.stringify(answer.body));
      else respondJson(response, 200, answer.body);
    } catch (error) {
      const code = refuseRest(response, error, requestId, (unexpected) =>
        log.error({ requestId, err: unexpected }, "request failed"),
      );
      observation.refused(code);
    }
  };
}

/** GraphQL: the page for browsers is open; operations need the token before their body is read. */
function createGraphQLRoute(options: RouterOptions): Route {
  const { gateway, fastLane, persisted, config, log } = options;
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
      if (request.method === "POST") {
        requireJson(request); // Yoga would take other media types too, and repair broken UTF-8
        body = await readBody(request, config.bodyBytesMax);
        context = withIdempotency(context, request, graphqlPath, body);
        const sent = parseJson(body);
        const value = persisted === undefined ? sent : persisted.resolve(sent);
        const answered = search === "" ? fastLane(value, request.headers.accept, context) : undefined;
        if (answered !== undefined) {
          const { status, mediaType, body: text, headers } = await answered;
          return respond(response, status, mediaType, text, headers);
        }
        refuseUnknownParameters(value);
        if (value !== sent) body = Buffer.from(JSON.stringify(value));
      } else {
        if (persisted !== undefined && isRead(request)) {
          request.url = `${graphqlPath}?${persisted.resolveSearch(search)}`;
        }
        refuseMalformedSearch(search);
      }
      requireAcceptable(request.headers.accept);
      // Yoga makes a URL of the Host header, and fails on one that is malformed. Which host it is plays no part.
      request.headers.host = "localhost";
      await gateway(Object.assign(request, { body }), response, context);
    } catch (error) {
      const code = refuseGraphQL(request, response, error, requestId, (unexpected) =>
        log.error({ requestId, err: unexpected }, "request failed"),
      );
      observation.refused(code);
    }
  };
}

async function createContext(options: RouterOptions, exchange: Exchange): Promise<Context> {
  const { db, identify, config, log, rateLimits, feed } = options;
  const { request, response, requestId, observation } = exchange;
  const header = request.headers[tokenHeader];
  const secret = typeof header === "string" ? header : undefined;
  const identity = await identify(secret);
  observation.storeId = identity.storeId;
  return {
    db,
    identity,
    confirmIdentity: () => identify(secret),
    requestId,
    observation,
    bulkProductsMax: config.bulkProductsMax,
    rateLimits,
    feed,
    setHeader: (name, value) => {
      if (!response.headersSent) response.setHeader(name, value);
    },
    reportError: (error) => log.error({ requestId, err: error }, "operation failed"),
  };
}
