import type { IncomingMessage } from "node:http";
import ipaddr from "ipaddr.js";
import proxyAddr from "proxy-addr";

/** A client has all addresses of an IPv6 network of 64 bits, which a provider assigns as one. */
const networkParts = 4;

/**
 * The address of the connection or, behind our proxies, what the first of them noted in X-Forwarded-For; for IPv6, its
 * network.
 *
 * @param trustedProxies how many proxies in front are ours: what is noted further left can be forged
 */
export function clientAddress(request: IncomingMessage, trustedProxies: number): string {
  const address = proxyAddr(request, (_, hop) => hop < trustedProxies);
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address); // IPv4 in IPv6 becomes IPv4
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString();
  return parsed.parts.slice(0, networkParts).join(":");
}
