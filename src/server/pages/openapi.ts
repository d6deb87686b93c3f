import type { IncomingMessage } from "node:http";
import { LRUCache } from "lru-cache";
import { type Route, isThroughProxy } from "../http/exchange.js";
import { createPage } from "./page.js";

const mediaType = "application/json; charset=utf-8";

/** Documents, of about 0.1 MB each, are kept for at most this many addresses. */
const addressesMax = 16;

/** If the document contains an address from the request, shared caches must not store it. */
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
 * The server's address for the document: absolute if the request shows it, otherwise relative to the document.
 *
 * @param basePath undefined if a proxy may remove a prefix that we do not know
 */
function serverUrlOf(request: IncomingMessage, basePath: string | undefined): string {
  const { host = "" } = request.headers;
  const named = hostPattern.exec(host);
  const relative = relativeServerUrl(basePath);
  if (named === null) return relative;
  const [, name, port] = named;
  if (isDirect(request, port)) return `http://${host}${basePath ?? ""}`;
  const protocol = forwardedProtocol(request);
  // Many proxies pass on nginx's $host, which lacks the port. Without a port, only a public name is likely complete.
  const isWhole = port !== undefined || isPublicName(name);
  return basePath !== undefined && protocol !== undefined && isWhole ? `${protocol}://${host}${basePath}` : relative;
}

/** The address if the request shows none. Without a known base path, it is the folder of the document. */
function relativeServerUrl(basePath: string | undefined): string {
  return basePath === "" ? "/" : (basePath ?? ".");
}

/**
 * Recognizes proxies that send no headers of their own if they listen on another port, or close each connection, as nginx does by
 * default.
 */
function isDirect(request: IncomingMessage, port = "80"): boolean {
  const { headers, socket } = request;
  return !isThroughProxy(request) && Number(port) === socket.localPort && headers.connection !== "close";
}

/** Undefined if proxies contradict each other or the Host header. */
function forwardedProtocol({ headers }: IncomingMessage): "http" | "https" | undefined {
  const { host, forwarded, "x-forwarded-proto": protocol, "x-forwarded-host": forwardedHost = host } = headers;
  if (forwarded !== undefined || forwardedHost !== host) return undefined;
  return protocol === "http" || protocol === "https" ? protocol : undefined;
}

function isPublicName(name = ""): boolean {
  return /\.-*[a-z][a-z\d-]*$/iu.test(name);
}
