import type { IncomingMessage } from "node:http";
import type { Route } from "../exchange.js";
import { createPage } from "./page.js";

/** The token of the demo store, for pages to fill in; undefined if there is none. */
export type DemoToken = () => string | undefined;

const html = "text/html; charset=utf-8";

/** A page with a field for the access token. For browsers on this machine alone, the demo token is filled in. */
export function createTokenPage(make: (token?: string) => string, demoToken: DemoToken): Route {
  const open = createPage(html, () => make());
  let filled: { readonly token: string; readonly page: Route } | undefined;
  return (exchange) => {
    const token = demoToken();
    if (token === undefined || !isFromThisMachine(exchange.request)) return open(exchange);
    if (filled?.token !== token) filled = { token, page: createPage(html, () => make(token), "no-store") };
    return filled.page(exchange);
  };
}

/** JSON that is safe in an inline script. */
export function inScript(value: unknown): string {
  return JSON.stringify(value).replaceAll("<", String.raw`\u003c`);
}

const loopback = /^(?:(?:::ffff:)?127\.\d+\.\d+\.\d+|::1)$/u;
const ownNames = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/iu;
/** Prefixes of headers that reverse proxies, CDNs, load balancers and tunnels add. */
const forwarding = (
  "forwarded via max-forwards client-ip true-client-ip remote- proxy- wl-proxy- front-end-https cdn- ali-cdn- cf- cloudfront- " +
  "fastly- fly- akamai- incap- tailscale- x-forward x-original x-real x-client x-remote x-cluster x-proxy x-envoy x-varnish x-nginx " +
  "x-traefik x-haproxy x-kong x-ssl x-scheme x-url-scheme x-proto x-port x-host x-via x-rewrite x-amz x-amzn x-appengine x-azure x-arr " +
  "x-akamai x-cloud x-cf x-fd x-nf x-vercel x-sucuri x-bluecoat x-request-start x-queue-start"
).split(" ");

/**
 * Whether a request comes from a browser on this machine: over loopback, to a loopback name (against DNS rebinding), not
 * from a script of another site, and not through a proxy. A bare proxy_pass of nginx adds no header, but uses HTTP/1.0,
 * which no browser does.
 */
function isFromThisMachine({ socket, headers, httpVersion }: IncomingMessage): boolean {
  return (
    loopback.test(socket.remoteAddress ?? "") &&
    ownNames.test(headers.host ?? "") &&
    headers.origin === undefined &&
    httpVersion !== "1.0" &&
    !Object.keys(headers).some((name) => forwarding.some((prefix) => name.startsWith(prefix)))
  );
}
