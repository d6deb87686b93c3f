import type { ServerResponse } from "node:http";
import type { Logger } from "pino";
import { type Identify, type Identity, tokenHeader } from "../access/identity.js";
import type { TokenEnds } from "../access/validity/tokenEnds.js";
import type { RateLimits } from "../access/rateLimit.js";
import type { LiveFeed } from "../analytics/feed/feed.js";
import type { Config } from "../config.js";
import type { Database, RootDatabase } from "../database/client.js";
import { onBehalfOf, reasonOf } from "../database/shares/caller.js";
import { forStore } from "../database/shares/forStore.js";
import type { AppError } from "../errors.js";
import { ResponseBudget } from "../schema/responseBudget.js";
import type { Context } from "../schema/context.js";
import { clientLeft, endSignal, hasEnded, onResponseEnd } from "../lib/responseEnd.js";
import type { Exchange } from "./exchange.js";

export interface ContextOptions {
  readonly config: Config;
  readonly db: RootDatabase;
  readonly log: Logger;
  readonly identify: Identify;
  readonly tokenEnds: TokenEnds;
  readonly rateLimits: RateLimits;
  readonly feed: LiveFeed;
}

/** @throws {AppError} UNAUTHENTICATED */
export async function createContext(options: ContextOptions, exchange: Exchange): Promise<Context> {
  const { identify, config, log, rateLimits, feed } = options;
  const { request, response, requestId, observation, path } = exchange;
  const header = request.headers[tokenHeader];
  const secret = typeof header === "string" ? header : undefined;
  const identity = await identify(secret);
  observation.storeId = identity.storeId;
  return {
    ...tokenOf(options, response, identity, (db) => identify(secret, db)),
    identity,
    disconnectSignal: () => endSignal(response),
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

/** How old the last answer may be when an operation begins: of a request whose body was slow it is older. */
const confirmedMs = 1_000;

/** What a request may do as long as its token is valid. */
function tokenOf(
  { db: root, tokenEnds }: ContextOptions,
  response: ServerResponse,
  { storeId, storeCreatedAt, tokenId }: Identity,
  identifyAgain: (db?: Database) => Promise<Identity>,
): Pick<Context, "db" | "dbToWrite" | "confirmIdentity" | "endSignal" | "explain"> {
  const db = forStore(root, storeId);
  const dbToWrite = () => onBehalfOf(db, { id: tokenId, storeCreatedAt, confirm: identifyAgain });
  let confirmedAt = performance.now();
  let signal: AbortSignal | undefined;
  let ended: AppError | undefined;
  const watch = (abort: (reason: AppError) => void) =>
    tokenEnds.watch(tokenId, identifyAgain, (reason) => abort((ended = reason)));
  return {
    db,
    dbToWrite,
    confirmIdentity() {
      const now = performance.now();
      if (now - confirmedAt < confirmedMs) return undefined;
      return identifyAgain().then(() => void (confirmedAt = now));
    },
    endSignal: () => (signal ??= signalOf(response, watch)),
    explain: async (error) => ended ?? reasonOf(error, dbToWrite(), storeId),
  };
}

/** @param watch gets a function that aborts the signal, and returns one that stops watching */
function signalOf(response: ServerResponse, watch: (abort: (reason: AppError) => void) => () => void): AbortSignal {
  const end = new AbortController();
  const stop = watch((reason) => end.abort(reason));
  onResponseEnd(response, () => {
    stop();
    end.abort(clientLeft());
  });
  return end.signal;
}
