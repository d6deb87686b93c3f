import type { IncomingMessage, ServerResponse } from "node:http";
import type { RequestObservation } from "./requestObservation.js";

/** What became of a request. */
export interface Summary {
  /** One of those that HTTP knows here, or `other`. */
  readonly method: string;
  readonly route: string;
  /** 0 where the client was gone before there was an answer. */
  readonly status: number;
  readonly statusClass: string;
  /** `ok`, the code of the error that it was refused with, or `aborted` where the client went away before its end. */
  readonly outcome: string;
  /** From when its headers had come until the last byte of the answer had gone. */
  readonly ms: number;
  /** Whether it was a subscription, which lasts as long as its client likes. */
  readonly isStream: boolean;
}

const methods = new Set(["GET", "HEAD", "POST", "DELETE", "OPTIONS", "PUT", "PATCH"]);
const statusClasses = ["none", "1xx", "2xx", "3xx", "4xx", "5xx"] as const;

/** To be called when a request is over. */
export function summarize(
  { startedAt, route, names, code }: RequestObservation,
  { method = "" }: IncomingMessage,
  { headersSent, statusCode, writableFinished }: ServerResponse,
): Summary {
  const status = headersSent ? statusCode : 0;
  const isStream = names?.kind === "subscription" && headersSent;
  return {
    method: methods.has(method) ? method : "other",
    route: isStream ? `${route} (subscription)` : route,
    status,
    statusClass: statusClasses[Math.trunc(status / 100)] ?? "none",
    outcome: writableFinished || isStream ? (code ?? "ok") : "aborted",
    ms: performance.now() - startedAt,
    isStream,
  };
}
