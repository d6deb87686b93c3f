import type { IncomingMessage, ServerResponse } from "node:http";
import type { ErrorCode } from "../errors.js";
import type { Execution } from "../schema/observation.js";
import type { OperationNames } from "../schema/operationNames.js";
import type { Logger } from "pino";

interface Observed {
  readonly requestId: string;
  readonly startedAt: number;
  /** The path pattern; `other` where none matched. */
  readonly route: string;
  readonly storeId: string | undefined;
  readonly names: OperationNames | undefined;
  /** Undefined for requests that execute no operation. */
  readonly execution: Execution | undefined;
  readonly code: ErrorCode | undefined;
}

export interface Summary extends Pick<Observed, "requestId" | "route" | "storeId" | "names" | "execution" | "code"> {
  readonly method: string;
  /** 0 where the client disconnected before a response. */
  readonly status: number;
  readonly statusClass: string;
  /** `ok`, an error code, or `aborted` where the client disconnected. */
  readonly outcome: string;
  /** From the request's headers to the last byte of the response. */
  readonly ms: number;
}

const methods = new Set(["GET", "HEAD", "POST", "DELETE", "OPTIONS", "PUT", "PATCH"]);
const statusClasses = ["none", "1xx", "2xx", "3xx", "4xx", "5xx"] as const;

/** Subscriptions have a route of their own, since their duration says nothing. */
export function summarize(
  { requestId, startedAt, route, storeId, names, execution, code }: Observed,
  { method = "", socket }: IncomingMessage,
  { headersSent, statusCode, writableFinished }: ServerResponse,
): Summary {
  const status = headersSent ? statusCode : 0;
  const isWhole = writableFinished && socket.errored === null; // Node.js also finishes what could not be written
  const isStream = names?.kind === "subscription" && headersSent;
  return {
    requestId,
    storeId,
    names,
    execution,
    code,
    method: methods.has(method) ? method : "other",
    route: isStream ? `${route} (subscription)` : route,
    status,
    statusClass: statusClasses[Math.trunc(status / 100)] ?? "none",
    outcome: isWhole || isStream ? (code ?? "ok") : "aborted",
    ms: performance.now() - startedAt,
  };
}

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
