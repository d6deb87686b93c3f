import type { RootDatabase } from "../database/client.js";
import type { Exchange, Route } from "./exchange.js";
import { checkReadiness } from "./health.js";
import { createPage } from "./page.js";
import { createMetricsRoute } from "./metrics.js";
import { dashboardRoutes } from "./pages.dashboard.js";
import { homePage } from "./pages.home.js";
import { respondJson } from "./respond.js";
import type { Telemetry } from "../telemetry/telemetry.js";

export interface PagesOptions {
  readonly db: RootDatabase;
  readonly telemetry: Telemetry;
  /** `/openapi.json`, as it is sent. */
  readonly openApiDocument: string;
}

/** What is open to everybody at a path of its own: pages for browsers, their files, and probes. There are no other paths. */
export function createPageRoutes({ db, telemetry, openApiDocument }: PagesOptions): ReadonlyMap<string, Route> {
  return new Map<string, Route>([
    ["/", createPage("text/html; charset=utf-8", () => homePage)],
    ["/openapi.json", createPage("application/json; charset=utf-8", () => openApiDocument)],
    ["/healthz", ({ response }) => respondJson(response, 200, { status: "ok" })],
    ...dashboardRoutes(),
    ["/readyz", (exchange) => answerReadiness(db, exchange)],
    ["/metrics", createMetricsRoute(telemetry)],
  ]);
}

async function answerReadiness(db: RootDatabase, { response }: Exchange): Promise<void> {
  const readiness = await checkReadiness(db);
  respondJson(response, readiness.status === "ready" ? 200 : 503, readiness);
}
