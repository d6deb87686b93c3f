import type { ServerResponse } from "node:http";
import type { Logger } from "pino";
import type { Summary } from "./summary.js";

const probes: ReadonlySet<string> = new Set(["/healthz", "/readyz", "/metrics"]);

/** The line contains nothing that the caller sent except the request's id. */
type WriteAccess = (summary: Summary, traceId: string | undefined, response: ServerResponse) => void;

/** A line for each request, at level info; at debug for probes. */
export function logAccess(log: Logger): WriteAccess {
  const logsProbes = log.isLevelEnabled("debug");
  if (!log.isLevelEnabled("info")) return () => undefined;
  return ({ requestId, storeId, names, execution, method, route, status, outcome, ms }, traceId, response) => {
    const isProbe = probes.has(route);
    if (isProbe && !logsProbes) return;
    const line = {
      requestId,
      traceId,
      store: storeId,
      method,
      route,
      operation: names?.label,
      execution,
      status,
      outcome,
      ms: Math.round(ms * 1_000) / 1_000,
      bytes: Number(response.getHeader("content-length")) || undefined,
    };
    if (isProbe) log.debug(line, "request");
    else log.info(line, "request");
  };
}
