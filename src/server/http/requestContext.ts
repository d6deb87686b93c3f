import type { ServerResponse, IncomingMessage } from "node:http";
import type { Logger } from "pino";
import type { Identity, LiveFeed, Context, RequestAccess, Notice } from "../../schema/context.js";
import { type Identify, tokenHeader } from "../../stores/token.js";
import type { TokenEnds } from "../../stores/validity/validity.js";
import { type RateLimits, rateLimitHeaders } from "../../schema/limits/policies.js";
import { attributeDue } from "../../orders/attribution/pendingAttribution.js";
import type { Config } from "../../config.js";
import type { Database, RootDatabase } from "../../database/client.js";
import { type Caller, withCaller, reasonOf } from "../../database/shares/caller.js";
import { forStore } from "../../database/shares/forStore.js";
import type { AppError } from "../../errors.js";
import { ResponseBudget } from "../../schema/limits/responseBudget.js";
import { clientLeft, endSignal, hasEnded, onResponseEnd } from "../../lib/streams/responseEnd.js";
import type { Exchange } from "./exchange.js";
import { keyNotTaken } from "../../schema/operationNames.js";

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
    attributeOrders: attributeDue,
    sent: { isRest },
    notify: noticesOf(exchange),
    observation,
    requestId,
    reportError: (error) => log.error({ requestId, err: error }, "operation failed"),
  };
}

/** When an operation begins, the token must have been confirmed this recently; a slow body takes longer. */
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

  confirm(db?: Database): Promise<unknown> {
    return this.#options.identify(this.#secret, db);
  }

  dbToWrite(): RootDatabase {
    return withCaller(this.db, this);
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
    return this.#ended ?? reasonOf(error, () => this.confirm());
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

/** Turns what resolvers report into headers. If the response has begun, it is too late for them. */
function noticesOf({ response, observation, path }: Exchange): (notice: Notice) => void {
  return (notice) => {
    if (notice.kind === "replayed") observation.replayed();
    if (response.headersSent) return;
    for (const [name, value] of headersOf(notice, path)) response.setHeader(name, value);
  };
}

type Headers = readonly (readonly [name: string, value: string])[];

function headersOf(notice: Notice, path: string): Headers {
  switch (notice.kind) {
    case "deprecated": // RFC 9745
      return [
        ["deprecation", `@${notice.at.getTime() / 1_000}`],
        ["link", `<${docsUrl(path)}>; rel="deprecation"; type="text/html"`],
      ];
    case "replayed":
      return [["idempotency-replayed", "true"]];
    case "counted":
      return Object.entries(rateLimitHeaders(notice.reservations));
    default: // the body has what was read of a file
      return [];
  }
}

/** Relative to the URL of the request, so that it works behind any proxy. */
function docsUrl(path: string): string {
  return `${"../".repeat(path.split("/").length - 2)}docs`;
}

/** What the fingerprint covers before the body: the path. Undefined if the request has no key. */
export function fingerprintScope({ headers }: IncomingMessage, path: string): string | undefined {
  return typeof headers["idempotency-key"] === "string" ? `${path}\n` : undefined;
}

/** For calls that take no key. @throws {AppError} BAD_REQUEST */
export function refuseKey({ headers }: IncomingMessage): void {
  if (headers["idempotency-key"] !== undefined) throw keyNotTaken();
}

/** IETF draft-ietf-httpapi-idempotency-key-header. */
export function withIdempotency(
  context: Context,
  { headers }: IncomingMessage,
  fingerprint: string | undefined,
): Context {
  const key = headers["idempotency-key"];
  if (typeof key !== "string" || fingerprint === undefined) return context;
  return { ...context, sent: { ...context.sent, idempotency: { key, fingerprint } } };
}
