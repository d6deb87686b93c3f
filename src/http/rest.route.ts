import { AppError } from "../errors.js";
import type { Context } from "../graphql/context.js";
import type { RestCall, RestHandler } from "../rest/handler.js";
import { restBase } from "../rest/routes.js";
import { readBody, requireJson } from "./body.js";
import type { BodyBudget } from "./bodyBudget.js";
import { type Exchange, isRead, type Route } from "./exchange.js";
import { withIdempotency } from "./idempotency.js";
import { refuseRest } from "./refuse.js";
import { type ContextOptions, createContext } from "./requestContext.js";
import { markPrivate, respondJson, respondRead } from "./respond.js";

export interface RestRouteOptions extends ContextOptions {
  readonly rest: RestHandler;
  readonly bodies: BodyBudget;
}

/** The documented paths: find the operation, then who calls, and only then read the body. */
export function createRestRoute(options: RestRouteOptions): Route {
  const { rest, bodies, config, log } = options;
  // A function of its own, so that the bytes of a large body are not kept while its content is worked on; but those of a long
  // text, which is read from them (src/jsonString.ts).
  const readCall = async (call: RestCall, { request, response, path, search }: Exchange, context: Context) => {
    if (call.operation.method !== "POST") return { sent: rest.readUrl(call, search), context };
    requireJson(request);
    const body = await readBody(request, config.bodyBytesMax, bodies.shareFor(response));
    return { sent: await rest.readBody(call, body), context: await withIdempotency(context, request, path, body) };
  };
  return async (exchange) => {
    const { request, response, requestId, observation, path } = exchange;
    try {
      if (isRead(request)) markPrivate(response);
      if (!path.startsWith(restBase)) throw new AppError("NOT_FOUND", "There is nothing at this path.");
      const call = rest.find(request.method ?? "", path);
      observation.route = call.operation.route;
      const { sent, context } = await readCall(call, exchange, await createContext(options, exchange));
      const answer = await rest.run(call, sent, context);
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
