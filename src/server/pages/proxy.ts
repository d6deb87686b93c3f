import type { IncomingMessage } from "node:http";

/** Added by reverse proxies, CDNs, load balancers and tunnels. */
const forwarding = (
  "forwarded via max-forwards client-ip true-client-ip remote- proxy- wl-proxy- front-end-https cdn- ali-cdn- cf- cloudfront- " +
  "fastly- fly- akamai- incap- tailscale- x-forward x-original x-real x-client x-remote x-cluster x-proxy x-envoy x-varnish x-nginx " +
  "x-traefik x-haproxy x-kong x-ssl x-scheme x-url-scheme x-proto x-port x-host x-via x-rewrite x-amz x-amzn x-appengine x-azure x-arr " +
  "x-akamai x-cloud x-cf x-fd x-nf x-vercel x-sucuri x-bluecoat x-request-start x-queue-start"
).split(" ");

/** A bare proxy_pass of nginx adds no header, but uses HTTP/1.0, which no browser does. */
export function isThroughProxy({ headers, httpVersion }: IncomingMessage): boolean {
  return (
    httpVersion === "1.0" || Object.keys(headers).some((name) => forwarding.some((prefix) => name.startsWith(prefix)))
  );
}

/**
 * Finds out whether requests come through a proxy, by the first request of each connection.
 *
 * @param noteSeen called once
 */
export function proxyWatch(noteSeen: () => void): (request: IncomingMessage) => void {
  const known = new WeakSet<object>();
  let isSeen = false;
  return (request) => {
    if (isSeen || known.has(request.socket)) return;
    known.add(request.socket);
    if (!isThroughProxy(request)) return;
    isSeen = true;
    noteSeen();
  };
}
