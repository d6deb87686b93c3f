import { get, type IncomingMessage } from "node:http";
import type { Config } from "../../config.js";
import { proxyAddresses, untrustedProxies } from "../../telemetry/proxyAddresses.js";
import { type Check, ok, warning } from "./check.js";

const timeoutMs = 5_000;
/** Another program may listen there. */
const metricsBytesMax = 4 * 1024 * 1024;

/** Asks the server that listens on this port whether it knows the addresses of shoppers. Nothing where it is no Vitrine. */
export async function checkProxy({
  host,
  port,
  trustedProxies,
}: Pick<Config, "host" | "port" | "trustedProxies">): Promise<readonly Check[]> {
  const metrics = await readMetrics(host, port).catch(() => "");
  const counted = valueOf(metrics, proxyAddresses);
  if (counted === undefined) return [];
  if (counted !== "0") {
    const detail = `requests to /collect/v1 that counted for the address of a proxy, as if of one shopper: ${counted}`;
    return [warning("proxy", detail, adviceFor(trustedProxies))];
  }
  if (trustedProxies === 0 && valueOf(metrics, untrustedProxies) !== "0") {
    const detail = "requests come through a proxy: all shoppers behind it would count as one in /collect/v1";
    return [warning("proxy", detail, adviceFor(trustedProxies))];
  }
  return [ok("proxy", "no request to /collect/v1 has counted for the address of a proxy")];
}

function adviceFor(trustedProxies: number): string {
  return `Have each proxy set X-Forwarded-For, and set TRUST_PROXY, now ${trustedProxies}, to their number.`;
}

function valueOf(metrics: string, name: string): string | undefined {
  const line = metrics.split("\n").find((one) => one.startsWith(`${name} `));
  return line?.slice(name.length + 1);
}

async function readMetrics(host: string, port: number): Promise<string> {
  const signal = AbortSignal.timeout(timeoutMs);
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get({ host, port, path: "/metrics", agent: false, signal }, resolve).once("error", reject);
  });
  let metrics = "";
  for await (const piece of response.setEncoding("utf8")) {
    metrics += String(piece);
    if (metrics.length > metricsBytesMax) return "";
  }
  return metrics;
}
