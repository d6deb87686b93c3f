import { AppError } from "../errors.js";
import { metricsMediaType } from "../telemetry/exposition.js";
import type { Telemetry } from "../telemetry/telemetry.js";
import type { Route } from "./exchange.js";
import { refuseRest } from "./refuse.js";
import { respond } from "./respond.js";

/** `/metrics`, open to everybody: it tells of no store. */
export function createMetricsRoute(telemetry: Telemetry): Route {
  return async ({ response, requestId, observation }) => {
    const text = await telemetry.scrape().catch(() => undefined);
    if (text !== undefined) return respond(response, 200, metricsMediaType, text, { "cache-control": "no-store" });
    const unavailable = new AppError("UNAVAILABLE", "The figures of all processes cannot be had at the moment.");
    observation.refused(refuseRest(response, unavailable, requestId));
  };
}
