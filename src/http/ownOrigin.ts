import type { IncomingMessage } from "node:http";

/**
 * Pages of the service work at any address: a mapped port, a name in a network, below a prefix. Browsers mark their
 * requests in Sec-Fetch-Site (https://www.w3.org/TR/fetch-metadata/), which no page can set, and which holds behind
 * proxies that change Host. They leave it out where the page came over plain HTTP from another machine: there, Origin
 * must name the Host. X-Forwarded-Host is ignored: any client may send it, and proxies pass it on.
 */
export function isFromOwnOrigin({ headers }: Pick<IncomingMessage, "headers">): boolean {
  const { origin, host = "", "sec-fetch-site": site } = headers;
  if (site !== undefined) return site === "same-origin";
  return host !== "" && origin === `http://${host.toLowerCase().replace(/:80$/u, "")}`;
}
