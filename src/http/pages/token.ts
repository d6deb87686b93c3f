import type { IncomingMessage } from "node:http";
import type { Route } from "../exchange.js";
import { createPage } from "./page.js";

/** The token of the demo store while this process knows it, for pages to fill in. */
export type DemoToken = () => string | undefined;

const html = "text/html; charset=utf-8";

/**
 * A page with a field for the access token. The demo store's token is filled in for who sits at the machine that serves;
 * everybody else gets the page without it.
 */
export function createTokenPage(make: (token?: string) => string, demoToken: DemoToken): Route {
  const open = createPage(html, () => make());
  let filled: { readonly token: string; readonly page: Route } | undefined;
  return (exchange) => {
    const token = demoToken();
    if (token === undefined || !isOwnVisit(exchange.request)) return open(exchange);
    if (filled?.token !== token) filled = { token, page: createPage(html, () => make(token), "no-store") };
    return filled.page(exchange);
  };
}

/** As JSON that may stand in an inline script, whatever texts it holds. */
export function inScript(value: unknown): string {
  return JSON.stringify(value).replaceAll("<", String.raw`\u003c`);
}

const loopback = /^(?:(?:::ffff:)?127\.\d+\.\d+\.\d+|::1)$/u;
const ownNames = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/iu;
/** How the headers begin by which reverse proxies, CDNs, load balancers and tunnels pass on who asked them, and for what. */
const forwarding = (
  "forwarded via max-forwards client-ip true-client-ip remote- proxy- wl-proxy- front-end-https cdn- ali-cdn- cf- cloudfront- " +
  "fastly- fly- akamai- incap- tailscale- x-forward x-original x-real x-client x-remote x-cluster x-proxy x-envoy x-varnish x-nginx " +
  "x-traefik x-haproxy x-kong x-ssl x-scheme x-url-scheme x-proto x-port x-host x-via x-rewrite x-amz x-amzn x-appengine x-azure x-arr " +
  "x-akamai x-cloud x-cf x-fd x-nf x-vercel x-sucuri x-bluecoat x-request-start x-queue-start"
).split(" ");

/**
 * Whether a request comes from a person's browser on this machine: over loopback, to a name that is this machine's own (or
 * a site could point its name here, and read), not from a script of another site (which CORS would let read), and not
 * handed on by a proxy. One that says so in no header, as a bare proxy_pass of nginx, still asks by HTTP/1.0, which no
 * browser does.
 */
function isOwnVisit({ socket, headers, httpVersion }: IncomingMessage): boolean {
  return (
    loopback.test(socket.remoteAddress ?? "") &&
    ownNames.test(headers.host ?? "") &&
    headers.origin === undefined &&
    httpVersion !== "1.0" &&
    !Object.keys(headers).some((name) => forwarding.some((prefix) => name.startsWith(prefix)))
  );
}
