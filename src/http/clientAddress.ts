import type { IncomingMessage } from "node:http";
import ipaddr from "ipaddr.js";
import proxyAddr from "proxy-addr";
import { isThroughProxy } from "./pages/proxy.js";

/** A client has all addresses of an IPv6 network of 64 bits, which a provider assigns as one. */
const networkParts = 4;

/** `1.2.3.4:5678`, `[2001:db8::1]:5678` and `[2001:db8::1]`: some balancers note the port, too. */
const notedWithPort = /^(?:\[([^\]]+)\](?::\d+)?|([\d.]+):\d+)$/u;

/** Of machines in one network. Clients from the internet have none of them. */
const innerRanges: ReadonlySet<string> = new Set([
  "loopback",
  "private",
  "uniqueLocal",
  "linkLocal",
  "carrierGradeNat",
]);

export interface ClientAddress {
  /** For IPv6, its network. */
  readonly address: string;
  /** Whether it seems to be that of a proxy, which all of its clients have in common. */
  readonly isProxy: boolean;
}

/**
 * The address of the connection or, behind our proxies, what the first of them noted in X-Forwarded-For.
 *
 * @param trustedProxies how many proxies in front are ours: what is noted further left can be forged
 */
export function clientAddress(request: IncomingMessage, trustedProxies: number): ClientAddress {
  const all = proxyAddr.all(request); // that of the connection, and then those noted, the last one first
  const hop = Math.min(trustedProxies, all.length - 1);
  const parsed = parse(all[hop]);
  const isUntrustedNoted = all.length - 1 > hop;
  return {
    address: parsed instanceof ipaddr.IPv6 ? parsed.parts.slice(0, networkParts).join(":") : String(parsed),
    isProxy: hop === 0 ? isThroughProxy(request) : isUntrustedNoted && isInner(parsed),
  };
}

type Parsed = ReturnType<typeof ipaddr.process> | string;

/** What is no address stays as it is. The connection of a client that has left has none. */
function parse(noted = ""): Parsed {
  const [, inBrackets, beforePort] = notedWithPort.exec(noted) ?? [];
  const address = inBrackets ?? beforePort ?? noted;
  return ipaddr.isValid(address) ? ipaddr.process(address) : address; // IPv4 in IPv6 becomes IPv4
}

function isInner(parsed: Parsed): boolean {
  return typeof parsed !== "string" && innerRanges.has(parsed.range());
}
