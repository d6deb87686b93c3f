import { get, type IncomingMessage } from "node:http";
import type { Config } from "../../config.js";
import { proxyAddresses } from "../../telemetry/proxyAddresses.js";
import { type Check, ok, warning } from "./check.js";

const timeoutMs = 5_000;
/** Another program may listen there. */
const metricsBytesMax = 4 * 1024 * 1024;

/** Asks the server that listens on this port whether it knows the addresses of shoppers. Nothing where it is no Vitrine. */
export async function checkProxy({ host, port, trustedProxies }: Config): Promise<readonly Check[]> {
  const metrics = await readMetrics(host, port).catch(() => "");
  const prefix = `${proxyAddresses} `;
  const line = metrics.split("\n").find((one) => one.startsWith(prefix));
  if (line === undefined) return [];
  const count = line.slice(prefix.length);
  if (count === "0") return [ok("proxy", "no request to /collect/v1 has counted for the address of a proxy")];
  const detail = `requests to /collect/v1 that counted for the address of a proxy, as if of one shopper: ${count}`;
  const advice = `Have each proxy set X-Forwarded-For, and set TRUST_PROXY, now ${trustedProxies}, to their number.`;
  return [warning("proxy", detail, advice)];
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
