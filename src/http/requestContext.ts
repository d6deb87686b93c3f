import type { ServerResponse } from "node:http";
import type { Logger } from "pino";
import { type Identify, type Identity, tokenHeader } from "../access/identity.js";
import type { TokenEnds } from "../access/validity/tokenEnds.js";
import type { RateLimits } from "../access/rateLimits/rateLimit.js";
import type { LiveFeed } from "../analytics/feed/feed.js";
import type { Config } from "../config.js";
import type { Database, RootDatabase } from "../database/client.js";
import { type Caller, onBehalfOf, reasonOf } from "../database/shares/caller.js";
import { forStore } from "../database/shares/forStore.js";
import type { AppError } from "../errors.js";
import { ResponseBudget } from "../schema/limits/responseBudget.js";
import type { Context, RequestAccess } from "../schema/context.js";
import { clientLeft, endSignal, hasEnded, onResponseEnd } from "../lib/streams/responseEnd.js";
import type { Exchange } from "./exchange.js";
import { noticesOf } from "./notices.js";

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
export async function createContext(options: ContextOptions, exchange: Exchange, isRest: boolean): Promise<Context> {
  const { identify, config, log, rateLimits, feed } = options;
  const { request, response, requestId, observation } = exchange;
  const header = request.headers[tokenHeader];
  const secret = typeof header === "string" ? header : undefined;
  const identity = await identify(secret);
  observation.storeId = identity.storeId;
  const access = new AccessOfRequest(options, response, secret, identity);
  return {
    db: access.db,
    access,
    identity,
    limits: { bulkProductsMax: config.bulkProductsMax, rates: rateLimits, response: new ResponseBudget() },
    feed,
    sent: { isRest },
    notify: noticesOf(exchange),
    observation,
    requestId,
    reportError: (error) => log.error({ requestId, err: error }, "operation failed"),
  };
}

/** How old the last answer may be when an operation begins: of a request whose body was slow it is older. */
const confirmedMs = 1_000;

class AccessOfRequest implements RequestAccess, Caller {
  readonly db: RootDatabase;
  readonly #options: ContextOptions;
  readonly #response: ServerResponse;
  readonly #secret: string | undefined;
  readonly #identity: Identity;
  #confirmedAt = performance.now();
  #endSignal: AbortSignal | undefined;
  #ended: AppError | undefined;

  constructor(options: ContextOptions, response: ServerResponse, secret: string | undefined, identity: Identity) {
    this.db = forStore(options.db, identity.storeId);
    this.#options = options;
    this.#response = response;
    this.#secret = secret;
    this.#identity = identity;
  }

  get id(): string {
    return this.#identity.tokenId;
  }

  get storeCreatedAt(): Date {
    return this.#identity.storeCreatedAt;
  }

  confirm(db?: Database): Promise<unknown> {
    return this.#options.identify(this.#secret, db);
  }

  dbToWrite(): RootDatabase {
    return onBehalfOf(this.db, this);
  }

  confirmSometimes(): Promise<void> | undefined {
    const now = performance.now();
    if (now - this.#confirmedAt < confirmedMs) return undefined;
    return this.confirm().then(() => void (this.#confirmedAt = now));
  }

  endSignal(): AbortSignal {
    return (this.#endSignal ??= this.#watch());
  }

  disconnectSignal(): AbortSignal {
    return endSignal(this.#response);
  }

  isGone(): boolean {
    return hasEnded(this.#response);
  }

  async explain(error: unknown): Promise<unknown> {
    return this.#ended ?? reasonOf(error, this.dbToWrite(), this.#identity.storeId);
  }

  #watch(): AbortSignal {
    const end = new AbortController();
    const confirm = () => this.confirm();
    const stop = this.#options.tokenEnds.watch(this.id, confirm, (reason) => end.abort((this.#ended = reason)));
    onResponseEnd(this.#response, () => {
      stop();
      end.abort(clientLeft());
    });
    return end.signal;
  }
}
