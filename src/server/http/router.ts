import type { RequestListener, ServerResponse } from "node:http";
import type { Logger } from "pino";
import { AppError } from "../../errors.js";
import { hooksPath } from "../../orders/hooks/hook.js";
import { graphqlPath } from "../../api/graphql/gateway.js";
import { MethodNotAllowedError } from "../../api/rest/handler.js";
import { collectPaths, type CollectRouteOptions, createCollectRoute } from "./routes/collect.route.js";
import {
  allowedMethods,
  applyCors,
  type Exchange,
  isRead,
  problemWith,
  requestIdOf,
  type Route,
  targetOf,
  proxyWatch,
} from "./exchange.js";
import { createGraphQLRoute, type GraphQLRouteOptions } from "./routes/graphql.route.js";
import { createHooksRoute, type HooksRouteOptions } from "./routes/hooks.route.js";
import { createPageRoutes, type PagesOptions } from "../pages/pageRoutes.js";
import { trackerFolders } from "../pages/tracker.js";
import { sendGraphQLError, sendRestError } from "./sendError.js";
import { send } from "./respond.js";
import { createRestRoute, type RestRouteOptions } from "./routes/rest.route.js";

export interface RouterOptions
  extends PagesOptions, CollectRouteOptions, HooksRouteOptions, GraphQLRouteOptions, RestRouteOptions {
  readonly log: Logger;
}

export function createRequestListener(options: RouterOptions): RequestListener {
  const { config, log, telemetry } = options;
  const collecting = collectPaths(config);
  const route = createRoute(options, collecting);
  const folders = trackerFolders(config).map((folder) => `${folder}/`);
  const isForShops = (path: string) =>
    collecting.includes(withoutSlash(path)) || folders.some((folder) => path.startsWith(folder));
  const watchProxies = config.trustedProxies === 0 ? proxyWatch(() => telemetry.noteUntrustedProxy()) : undefined;
  return (request, response) => {
    watchProxies?.(request);
    const requestId = requestIdOf(request);
    const observation = telemetry.observe(request, response, requestId);
    response.setHeader("x-request-id", requestId);
    response.setHeader("x-content-type-options", "nosniff");
    const target = targetOf(request, config.basePath);
    // Pages of any shop may send a preflight. It carries no public key, so the request itself compares origins.
    const origins = isForShops(target.path) ? ["*"] : config.corsOrigins;
    if (applyCors(request, response, origins)) {
      observation.route = "preflight";
      return;
    }
    const problem = problemWith(request);
    const exchange: Exchange = { request, response, requestId, observation, ...target };
    if (problem !== undefined)
      return (target.path === graphqlPath ? sendGraphQLError : sendRestError)(exchange, problem);
    if (target.path === "*" && request.method === "OPTIONS") return answerPing(response);
    const handled = observation.handle(async () => route(exchange));
    handled.catch((error: unknown) => {
      // Routes answer their own errors, so this one happened while sending an answer.
      log.error({ requestId, err: error }, "request failed");
      observation.refused("INTERNAL");
      if (response.headersSent) response.destroy();
      else sendRestError(exchange, new AppError("INTERNAL", "Something went wrong on our side."));
    });
  };
}

/** Finds the route of a path. @param collecting the paths of `/collect/v1` */
function createRoute(options: RouterOptions, collecting: readonly string[]): Route {
  const { basePath } = options.config;
  const pages = createPageRoutes(options);
  const graphql = createGraphQLRoute(options);
  const rest = createRestRoute(options);
  const collect = createCollectRoute(options);
  const hooks = createHooksRoute(options);
  const knownAt = (path: string) => (path === graphqlPath || pages.has(path) ? path : options.rest.routeOf(path));
  return (exchange) => {
    const { request, observation } = exchange;
    const path = withoutSlash(exchange.path);
    // Senders to these paths do not follow redirects.
    if (collecting.includes(path)) return collect(exchange);
    if (path.startsWith(`${hooksPath}/`)) return hooks({ ...exchange, path });
    const known = path === exchange.path ? undefined : knownAt(path);
    if (known !== undefined) return redirect(exchange, known, `..${path.slice(path.lastIndexOf("/"))}`); // relative, so that it works below any prefix
    if (exchange.path === graphqlPath) return graphql(exchange);
    if (exchange.path === basePath && isRead(request)) return redirect(exchange, "/", `${path}/`);
    const page = pages.get(exchange.path);
    if (page === undefined) return rest(exchange);
    observation.route = path;
    if (isRead(request)) return page(exchange);
    return sendRestError(exchange, new MethodNotAllowedError(["GET", "HEAD"]));
  };
}

/** Removes one slash at the end of a path. Keeps that of the home page, and paths that end in two. */
function withoutSlash(path: string): string {
  return path.length > 1 && path.endsWith("/") && !path.endsWith("//") ? path.slice(0, -1) : path;
}

/** Redirects by 308, which keeps method and body, and keeps the query string. */
function redirect({ response, search, observation }: Exchange, route: string, to: string): void {
  observation.route = route;
  send(response, 308, { location: search === "" ? to : `${to}?${search}`, "content-length": 0 });
}

/** OPTIONS of `*` queries the capabilities of the whole server (RFC 9110, section 9.3.7). */
function answerPing(response: ServerResponse): void {
  send(response, 204, { allow: allowedMethods });
}
