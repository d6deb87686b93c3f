import type { IncomingMessage, ServerResponse } from "node:http";
import type { RequestObservation } from "../telemetry/requestObservation.js";

/** A request on its way through the router. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly observation: RequestObservation;
  readonly path: string;
  /** The query string, without its question mark. */
  readonly search: string;
}

export type Route = (exchange: Exchange) => Promise<void> | void;

export function isRead({ method }: IncomingMessage): boolean {
  return method === "GET" || method === "HEAD";
}
