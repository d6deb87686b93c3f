import type { IncomingMessage } from "node:http";
import { LRUCache } from "lru-cache";
import type { Route } from "../http/exchange.js";
import { createPage } from "./page.js";
import { isThroughProxy } from "../http/exchange.js";

const mediaType = "application/json; charset=utf-8";

/** The most addresses for which a document is kept, of about 0.1 MB each. */
const addressesMax = 16;

/** A document with an address from the request is for the caller alone. */
export function createOpenApiPage(write: (serverUrl: string) => string, basePath: string | undefined): Route {
  const relative = relativeServerUrl(basePath);
  const relativePage = createPage(mediaType, () => write(relative));
  const absolutePages = new LRUCache<string, Route>({
    max: addressesMax,
    memoMethod: (serverUrl) => createPage(mediaType, () => write(serverUrl), { cacheControl: "private, no-cache" }),
  });
  return (exchange) => {
    const serverUrl = serverUrlOf(exchange.request, basePath);
    return serverUrl === relative ? relativePage(exchange) : absolutePages.memo(serverUrl)(exchange);
  };
}

const hostPattern = /^(?=.{1,255}$)(?:([a-z\d](?:[a-z\d.-]*[a-z\d])?)|\[[\da-f:.]+\])(?::(\d{1,5}))?$/iu;

/**
 * The address for the document that a request reads: absolute where the request tells it, or else relative to the
 * document. It holds what the caller sent, so shared caches must not store it.
 *
 * @param basePath undefined if a proxy may remove a prefix that is not known here
 */
function serverUrlOf(request: IncomingMessage, basePath: string | undefined): string {
  const { host = "" } = request.headers;
  const named = hostPattern.exec(host);
  const relative = relativeServerUrl(basePath);
  if (named === null) return relative;
  const [, name, port] = named;
  if (isDirect(request, port)) return `http://${host}${basePath ?? ""}`;
  const protocol = forwardedProtocol(request);
  // nginx's $host, which many pass on, is without the port: an address without one hardly is a public one.
  const isWhole = port !== undefined || isPublicName(name);
  return basePath !== undefined && protocol !== undefined && isWhole ? `${protocol}://${host}${basePath}` : relative;
}

/** The address for a request that tells nothing. Without a known base path it is the folder of the document. */
function relativeServerUrl(basePath: string | undefined): string {
  return basePath === "" ? "/" : (basePath ?? ".");
}

/**
 * Proxies that show themselves by no header are recognized where they listen on another port, or close each connection, as
 * nginx does by default.
 */
function isDirect(request: IncomingMessage, port = "80"): boolean {
  const { headers, socket } = request;
  return !isThroughProxy(request) && Number(port) === socket.localPort && headers.connection !== "close";
}

/** Undefined where proxies contradict each other or the Host header. */
function forwardedProtocol({ headers }: IncomingMessage): "http" | "https" | undefined {
  const { host, forwarded, "x-forwarded-proto": protocol, "x-forwarded-host": forwardedHost = host } = headers;
  if (forwarded !== undefined || forwardedHost !== host) return undefined;
  return protocol === "http" || protocol === "https" ? protocol : undefined;
}

function isPublicName(name = ""): boolean {
  return /\.-*[a-z][a-z\d-]*$/iu.test(name);
}
