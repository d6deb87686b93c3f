import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { FindKey } from "../../access/key.lookup.js";
import { isAmong } from "../../access/key.origins.js";
import { type RateLimits, rateLimitHeaders, tooManyCalls } from "../../access/rateLimits/rateLimit.js";
import { readCollected, readKey } from "../../analytics/collect/collect.input.js";
import { createGroupCommit, type RecordTogether } from "../../analytics/collect/group.js";
import { clientOf } from "../../analytics/collect/userAgent.js";
import type { EventReceipt } from "../../analytics/events/events.record.js";
import type { LiveFeed } from "../../analytics/feed/feed.js";
import type { Config } from "../../config.js";
import type { Database, RootDatabase } from "../../database/client.js";
import { onBehalfOf, reasonOf } from "../../database/shares/caller.js";
import { forStore } from "../../database/shares/forStore.js";
import type { Logger } from "pino";
import { AppError } from "../../errors.js";
import { parseJson } from "../../lib/json/parse.js";
import { MethodNotAllowedError } from "../../rest/handler.js";
import { clientAddress } from "../clientAddress.js";
import { contentTypeOf, receive } from "../content/body.js";
import type { Exchange, Route } from "../exchange.js";
import { isFromOwnOrigin } from "../ownOrigin.js";
import { sendRestError } from "../sendError.js";
import { respondJson } from "../respond.js";

export const collectPath = "/collect/v1";

export interface CollectRouteOptions {
  readonly db: RootDatabase;
  readonly log: Logger;
  readonly feed: LiveFeed;
  readonly findKey: FindKey;
  readonly rateLimits: RateLimits;
  /** Logs a warning the first time. */
  readonly warnOnce: (text: string) => void;
  readonly config: Config;
}

/** Of a proxy that passes no addresses on, or whose header is not trusted. */
const proxyWarning =
  "Requests to /collect/v1 come through a proxy and count for its address: all shoppers behind it share one " +
  "COLLECT_RATE_LIMIT. Have the proxy set X-Forwarded-For, and set TRUST_PROXY to the number of your proxies.";

const bodyBytesMax = 64 * 1024;

/** `POST /collect/v1`, for shops' pages with a public key (docs/tracking.md). */
export function createCollectRoute(options: CollectRouteOptions): Route {
  const { log } = options;
  const record = createGroupCommit();
  return async (exchange) => {
    const { request, response, observation } = exchange;
    observation.route = collectPath;
    try {
      if (request.method !== "POST") throw new MethodNotAllowedError(["POST"]);
      respondJson(response, 202, await collect(exchange, options, record));
    } catch (error) {
      sendRestError(exchange, error, log);
    }
  };
}

async function collect(
  exchange: Exchange,
  options: CollectRouteOptions,
  record: RecordTogether,
): Promise<EventReceipt> {
  const { request, observation } = exchange;
  const { db, feed, findKey } = options;
  const { origin, "user-agent": userAgent } = request.headers;
  const { key, sent } = readKey(await readJson(request));
  const { id, storeId, storeCreatedAt, origins } = await findKey(key);
  observation.storeId = storeId;
  // Servers and old beacons send no Origin. It is against misuse of a copied snippet, not against forgery.
  if (origin !== undefined && !isHidden(request) && !isAmong(origins, origin) && !isFromOwnOrigin(request)) {
    throw new AppError("FORBIDDEN", "Pages of this origin may not use the public key.");
  }
  await admit(key, exchange, options);
  const { device, isBot } = clientOf(userAgent);
  // Without an Origin it is a server, whose User-Agent looks like a bot's.
  if (origin !== undefined && isBot) {
    observation.bot();
    return { accepted: 0, duplicates: 0 };
  }
  const { show, events } = readCollected(sent, device);
  const caller = { id, storeCreatedAt, confirm: (within: Database) => findKey(key, within) };
  const ofCaller = onBehalfOf(forStore(db, storeId), caller);
  try {
    const receipt = await observation.recording(() => record(ofCaller, storeId, show, events));
    if (events.length > 0) feed.changed(storeId, show);
    return receipt;
  } catch (error) {
    throw await reasonOf(error, ofCaller, storeId);
  }
}

/**
 * Fetch demands that browsers leave the origin out of a beacon from a page that sends no referrer; Firefox does. Pages
 * can set neither header.
 */
function isHidden({ headers }: IncomingMessage): boolean {
  return headers.origin === "null" && headers["sec-fetch-mode"] === "no-cors";
}

/** Counts by client and key; the count knows the address only as part of a hash. @throws {AppError} RATE_LIMITED */
async function admit(
  key: string,
  { request, response, observation }: Exchange,
  { rateLimits: { policies, count }, config, warnOnce }: CollectRouteOptions,
): Promise<void> {
  if (policies.collect === undefined) return;
  const { address, isProxy } = clientAddress(request, config.trustedProxies);
  if (isProxy) {
    observation.ofProxy();
    warnOnce(proxyWarning);
  }
  const caller = createHash("sha256").update(`${key} ${address}`).digest("base64url");
  const reservation = await count.reserve(policies.collect, caller);
  for (const [name, value] of Object.entries(rateLimitHeaders([reservation]))) response.setHeader(name, value);
  if (reservation.isGranted) return;
  observation.limited("collect");
  throw tooManyCalls(reservation);
}

/** @throws {AppError} UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE, or BAD_REQUEST for what is no JSON */
async function readJson(request: IncomingMessage): Promise<unknown> {
  const { mediaType, isUtf8: isDeclaredUtf8 } = contentTypeOf(request);
  // text/plain: what a beacon may send to another origin without a preflight.
  if (!isDeclaredUtf8 || (mediaType !== "text/plain" && mediaType !== "application/json")) {
    throw new AppError("UNSUPPORTED_MEDIA_TYPE", "The content-type must be text/plain or application/json in UTF-8.");
  }
  const tooLarge = () => new AppError("PAYLOAD_TOO_LARGE", `The body may have at most ${bodyBytesMax} bytes.`);
  if (Number(request.headers["content-length"] ?? 0) > bodyBytesMax) throw tooLarge();
  const pieces: Buffer[] = [];
  let bytes = 0;
  await receive(request, (piece) => {
    bytes += piece.length;
    if (bytes > bodyBytesMax) throw tooLarge();
    pieces.push(piece);
    return undefined;
  });
  const body = pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces);
  return parseJson(body);
}
