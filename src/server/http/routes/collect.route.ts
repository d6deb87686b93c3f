import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Logger } from "pino";
import ipaddr from "ipaddr.js";
import proxyAddr from "proxy-addr";
import { type FindKey, isAmong } from "../../../stores/publicKey.js";
import { rateLimitHeaders, type RateLimits, tooManyCalls } from "../../../schema/limits/policies.js";
import { type Collected, readCollected, readKey } from "../../../events/collect/collect.input.js";
import { claimOrders } from "../../../orders/state/order.record.js";
import { attributeDue } from "../../../orders/attribution/pendingAttribution.js";
import { createGroupCommit, type RecordTogether } from "../../../events/collect/group.js";
import { clientOf } from "../../../events/collect/userAgent.js";
import type { EventReceipt } from "../../../events/record/events.record.js";
import { ShowNotStartedError } from "../../../shows/liveStream.js";
import type { LiveFeed } from "../../../schema/context.js";
import type { Config } from "../../../config.js";
import type { Database, RootDatabase } from "../../../database/client.js";
import { withCaller, reasonOf } from "../../../database/shares/caller.js";
import { forStore } from "../../../database/shares/forStore.js";
import { AppError } from "../../../errors.js";
import { parseJson } from "../../../lib/json/parseJson.js";
import { onlyParameters } from "../../../api/rest/arguments/readArguments.js";
import { MethodNotAllowedError } from "../../../api/rest/handler.js";
import { contentTypeOf, receiveWhole } from "../../content/body.js";
import { conditionNotTaken, conditionOf, respondJson } from "../respond.js";
import { type Exchange, type Route, isThroughProxy } from "../exchange.js";
import { sendRestError } from "../sendError.js";

/** Providers assign IPv6 networks of 64 bits, so a client has all addresses of one. */
const networkParts = 4;

/** `1.2.3.4:5678`, `[2001:db8::1]:5678` and `[2001:db8::1]`: some load balancers add the port. */
const notedWithPort = /^(?:\[([^\]]+)\](?::\d+)?|([\d.]+):\d+)$/u;

/** Addresses inside a network. Clients from the internet have other ones. */
const innerRanges: ReadonlySet<string> = new Set([
  "loopback",
  "private",
  "uniqueLocal",
  "linkLocal",
  "carrierGradeNat",
]);

export const collectPath = "/collect/v1";

/** With TRACKING_PATH, also its `/v1`, next to the tracker's script. */
export function collectPaths({ trackingPath }: Pick<Config, "trackingPath">): readonly string[] {
  return [collectPath, ...(trackingPath === undefined ? [] : [`${trackingPath}/v1`])];
}

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

/** For a proxy that does not pass addresses on, or whose header we do not trust. */
const proxyWarning =
  "Requests to /collect/v1 come through a proxy and count for its address: all shoppers behind it share one " +
  "COLLECT_RATE_LIMIT. Have the proxy set X-Forwarded-For, and set TRUST_PROXY to the number of your proxies.";

/** The credential is a public key, not an access token. */
export const keyTitles = {
  UNAUTHENTICATED: "Public key missing or invalid",
  FORBIDDEN: "Not allowed by the public key",
};

const bodyBytesMax = 64 * 1024;
const checkParameters = onlyParameters([]);

/** A page waits at most this long before it sends again, because the show may start early. */
const tooEarlySecondsMax = 300;

/** `POST /collect/v1`, for shops' pages with a public key (docs/tracking.md). */
export function createCollectRoute(options: CollectRouteOptions): Route {
  const { log } = options;
  const record = createGroupCommit(attributeDue);
  return async (exchange) => {
    const { request, response, observation, search } = exchange;
    observation.route = collectPath;
    try {
      if (request.method !== "POST") throw new MethodNotAllowedError(["POST"]);
      if (search !== "") checkParameters(search);
      if (conditionOf(request) !== undefined) throw conditionNotTaken();
      respondJson(response, 202, await collect(exchange, options, record));
    } catch (error) {
      const answered = error instanceof ShowNotStartedError ? tooEarly(error) : error;
      sendRestError(exchange, answered, log, keyTitles);
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
  const { id, storeId, origins } = await findKey(key);
  observation.storeId = storeId;
  // Comparing origins prevents misuse of a copied snippet, not forgery: servers and old beacons send no Origin.
  if (origin !== undefined && !isHidden(request) && !isAmong(origins, origin) && !isFromOwnOrigin(request)) {
    throw new AppError("FORBIDDEN", "Pages of this origin may not use the public key.");
  }
  await admit(key, exchange, options);
  const { device, isBot } = clientOf(userAgent);
  // A request without Origin comes from a server, whose User-Agent looks like that of a bot.
  if (origin !== undefined && isBot) {
    observation.bot();
    return { accepted: 0, duplicates: 0 };
  }
  const ownOrigins = origin === undefined ? origins : [...origins, origin];
  const collected = readCollected(sent, { device, ownOrigins });
  const { show, events, claims } = collected;
  const confirm = (within?: Database) => findKey(key, within);
  const ofCaller = withCaller(forStore(db, storeId), { id, confirm });
  try {
    await claim(ofCaller, storeId, collected, feed);
    if (events.length === 0 && claims.size > 0) return { accepted: claims.size, duplicates: 0 };
    const { accepted, duplicates } = await observation.recording(() => record(ofCaller, storeId, show, events));
    if (events.length > 0) feed.changed(storeId, show);
    return { accepted: accepted + claims.size, duplicates };
  } catch (error) {
    throw await reasonOf(error, confirm);
  }
}

async function claim(db: RootDatabase, storeId: string, { claims, formers }: Collected, feed: LiveFeed): Promise<void> {
  const { changed } = await claimOrders(db, storeId, claims, formers);
  for (const lsId of changed) feed.changed(storeId, lsId);
}

/** RFC 8470, section 5.2. */
function tooEarly({ message, startsAt }: ShowNotStartedError): AppError {
  const seconds = Math.ceil((startsAt.getTime() - Date.now()) / 1_000);
  return new AppError("TOO_EARLY", message, {
    retryAfterSeconds: Math.min(Math.max(1, seconds), tooEarlySecondsMax),
  });
}

/**
 * Fetch demands that browsers hide the origin in a beacon of a page that sends no referrer, and Firefox does so. Pages
 * can set neither header.
 */
function isHidden({ headers }: IncomingMessage): boolean {
  return headers.origin === "null" && headers["sec-fetch-mode"] === "no-cors";
}

/** Counts calls by client and key. It only stores a hash, not the address. @throws {AppError} RATE_LIMITED */
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

/** @throws {AppError} UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE, or BAD_REQUEST for invalid JSON */
async function readJson(request: IncomingMessage): Promise<unknown> {
  const { mediaType, isUtf8: isDeclaredUtf8 } = contentTypeOf(request);
  // A beacon may send text/plain to another origin without a preflight.
  if (!isDeclaredUtf8 || (mediaType !== "text/plain" && mediaType !== "application/json")) {
    throw new AppError("UNSUPPORTED_MEDIA_TYPE", "The content-type must be text/plain or application/json in UTF-8.");
  }
  return parseJson(await receiveWhole(request, bodyBytesMax));
}

interface ClientAddress {
  /** For IPv6, the network. */
  readonly address: string;
  /** Whether this seems to be the address of a proxy, which its clients share. */
  readonly isProxy: boolean;
}

/**
 * The address of the connection or, behind our proxies, the one that the first of them noted in X-Forwarded-For.
 *
 * @param trustedProxies how many proxies are ours: anybody can forge addresses further left
 */
export function clientAddress(request: IncomingMessage, trustedProxies: number): ClientAddress {
  const all = proxyAddr.all(request); // the connection's address, then the noted ones from the last to the first
  const hop = Math.min(trustedProxies, all.length - 1);
  const parsed = parse(all[hop]);
  const isUntrustedNoted = all.length - 1 > hop;
  return {
    address: parsed instanceof ipaddr.IPv6 ? parsed.parts.slice(0, networkParts).join(":") : String(parsed),
    isProxy: hop === 0 ? isThroughProxy(request) : isUntrustedNoted && isInner(parsed),
  };
}

type Parsed = ReturnType<typeof ipaddr.process> | string;

/** Returns a text that is not an address unchanged. If the client has left, its connection has no address. */
function parse(noted = ""): Parsed {
  const [, inBrackets, beforePort] = notedWithPort.exec(noted) ?? [];
  const address = inBrackets ?? beforePort ?? noted;
  return ipaddr.isValid(address) ? ipaddr.process(address) : address; // IPv4 in IPv6 becomes IPv4
}

function isInner(parsed: Parsed): boolean {
  return typeof parsed !== "string" && innerRanges.has(parsed.range());
}

/**
 * Pages of the service must work at any address: with a mapped port, a name in a network, or below a prefix. Browsers mark
 * their requests with Sec-Fetch-Site (https://www.w3.org/TR/fetch-metadata/), which no page can set, and which stays right
 * behind proxies that change Host. They omit it if the page came over plain HTTP from another machine: then Origin must
 * name the Host. We ignore X-Forwarded-Host, because any client may send it, and proxies pass it on.
 */
export function isFromOwnOrigin({ headers }: Pick<IncomingMessage, "headers">): boolean {
  const { origin, host = "", "sec-fetch-site": site } = headers;
  if (site !== undefined) return site === "same-origin";
  return host !== "" && origin === `http://${host.toLowerCase().replace(/:80$/u, "")}`;
}
