import type { ServerResponse } from "node:http";
import type { Logger } from "pino";
import type { RequestObservation } from "./requestObservation.js";
import type { Summary } from "./summary.js";

/** Asked all the time by those who watch over the service. */
const probes: ReadonlySet<string> = new Set(["/healthz", "/readyz", "/metrics"]);

/** Writes the line of a request. It names no value that the caller sent but the id of the request. */
type WriteAccess = (observation: RequestObservation, summary: Summary, response: ServerResponse) => void;

/** One line for each request, of level info; of level debug for probes. */
export function logAccess(log: Logger): WriteAccess {
  const isForProbes = log.isLevelEnabled("debug");
  if (!log.isLevelEnabled("info")) return () => undefined;
  return ({ requestId, storeId, names, span }, { method, route, status, outcome, ms }, response) => {
    const isProbe = probes.has(route);
    if (isProbe && !isForProbes) return;
    const line = {
      requestId,
      traceId: span?.traceId,
      store: storeId,
      method,
      route,
      operation: names?.label,
      status,
      outcome,
      ms: Math.round(ms * 1_000) / 1_000,
      bytes: Number(response.getHeader("content-length")) || undefined,
    };
    if (isProbe) log.debug(line, "request");
    else log.info(line, "request");
  };
}
