import type { ServerResponse } from "node:http";
import type { Logger } from "pino";
import { type Identify, tokenHeader } from "../access/identity.js";
import type { RateLimits } from "../access/rateLimit.js";
import type { LiveFeed } from "../analytics/feed/feed.js";
import type { Config } from "../config.js";
import type { RootDatabase } from "../database/client.js";
import { forStore } from "../database/shares/forStore.js";
import { ResponseBudget } from "../schema/responseBudget.js";
import type { Context } from "../schema/context.js";
import { hasEnded, onResponseEnd } from "../lib/responseEnd.js";
import type { Exchange } from "./exchange.js";

export interface ContextOptions {
  readonly config: Config;
  readonly db: RootDatabase;
  readonly log: Logger;
  readonly identify: Identify;
  readonly rateLimits: RateLimits;
  readonly feed: LiveFeed;
}

/** @throws {AppError} UNAUTHENTICATED */
export async function createContext(options: ContextOptions, exchange: Exchange): Promise<Context> {
  const { db, identify, config, log, rateLimits, feed } = options;
  const { request, response, requestId, observation, path } = exchange;
  const header = request.headers[tokenHeader];
  const secret = typeof header === "string" ? header : undefined;
  const identity = await identify(secret);
  observation.storeId = identity.storeId;
  return {
    db: forStore(db, identity.storeId),
    identity,
    confirmIdentity: () => identify(secret),
    disconnectSignal: () => disconnectSignal(response),
    isGone: () => hasEnded(response),
    responseBudget: new ResponseBudget(),
    requestId,
    observation,
    bulkProductsMax: config.bulkProductsMax,
    rateLimits,
    feed,
    docsUrl: `${"../".repeat(path.split("/").length - 2)}docs`,
    setHeader: (name, value) => {
      if (!response.headersSent) response.setHeader(name, value);
    },
    reportError: (error) => log.error({ requestId, err: error }, "operation failed"),
  };
}

function disconnectSignal(response: ServerResponse): AbortSignal {
  const disconnect = new AbortController();
  onResponseEnd(response, () => disconnect.abort());
  return disconnect.signal;
}
