import type { ServerResponse } from "node:http";
import { AppError } from "../errors.js";
import { metricsMediaType } from "../telemetry/exposition.js";
import type { RequestObservation } from "../telemetry/requestObservation.js";
import type { Telemetry } from "../telemetry/telemetry.js";
import { refuseRest } from "./refuse.js";
import { respond } from "./respond.js";

interface Exchange {
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly observation: RequestObservation;
}

/** `/metrics`, open to everybody: it tells of no store. */
export function createMetricsRoute(telemetry: Telemetry): (exchange: Exchange) => Promise<void> {
  return async ({ response, requestId, observation }) => {
    const text = await telemetry.scrape().catch(() => undefined);
    if (text !== undefined) return respond(response, 200, metricsMediaType, text, { "cache-control": "no-store" });
    const unavailable = new AppError("UNAVAILABLE", "The figures of all processes cannot be had at the moment.");
    observation.refused(refuseRest(response, unavailable, requestId));
  };
}
