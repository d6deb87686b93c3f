import type { Config } from "../../config.js";
import type { DatabaseReadiness } from "../../database/readiness.js";
import { graphqlPath } from "../../api/graphql/gateway.js";
import type { Exchange, Route } from "../http/exchange.js";
import { type CheckReadiness, createReadinessCheck } from "../http/health.js";
import { createPage } from "./page.js";
import { createDocsFiles, docsPage, docsPath } from "./docs.js";
import { createDemoRoute, demoPath, type FindDemoShop, pictureRoutes } from "./demo/demoPage.js";
import { dashboardRoutes } from "./dashboard.js";
import { createGraphiqlFiles, servesGraphiql } from "./graphiql/graphiql.js";
import { homePage } from "./home.js";
import { createOpenApiPage } from "./openapi.js";
import { createTokenPage, type DemoToken } from "./pageToken.js";
import { trackerFolders, trackerRoutes } from "./tracker.js";
import { respond, respondJson } from "../http/respond.js";
import type { Telemetry } from "../telemetry/telemetry.js";
import { AppError } from "../../errors.js";
import { metricsMediaType } from "../telemetry/exposition.js";
import { sendRestError } from "../http/sendError.js";

export interface PagesOptions {
  readonly config: Config;
  readonly readiness: DatabaseReadiness;
  readonly telemetry: Telemetry;
  /** Writes `/openapi.json` with this address of the server. */
  readonly writeOpenApi: (serverUrl: string) => string;
  readonly demoToken: DemoToken;
  readonly demoShop: FindDemoShop;
}

export function createPageRoutes(options: PagesOptions): ReadonlyMap<string, Route> {
  const { config, readiness, telemetry, writeOpenApi, demoToken, demoShop } = options;
  const checkReadiness = createReadinessCheck(readiness);
  const routes: ReadonlyMap<string, Route> = new Map<string, Route>([
    ["/", (exchange) => (demoShop() === undefined ? home : homeWithDemo)(exchange)],
    [demoPath, createDemoRoute(demoShop, demoToken)],
    ...pictureRoutes(demoShop),
    [docsPath, createTokenPage(docsPage, demoToken)],
    ...createDocsFiles(),
    ...(servesGraphiql(config) ? createGraphiqlFiles() : []),
    ["/openapi.json", createOpenApiPage(writeOpenApi, config.basePath)],
    ["/healthz", ({ response }) => respondJson(response, 200, { status: "ok" })],
    ...dashboardRoutes(config.frameAncestors),
    ...trackerRoutes(trackerFolders(config)),
    ["/readyz", (exchange) => answerReadiness(checkReadiness, exchange)],
    ["/metrics", createMetricsRoute(telemetry)],
  ]);
  const exists = (path: string): boolean => routes.has(path) || (path === graphqlPath && servesGraphiql(config));
  const createHome = (isListed: (path: string) => boolean) =>
    createPage("text/html; charset=utf-8", () => homePage(isListed, config.basePath));
  const home = createHome((path) => exists(path) && path !== demoPath);
  const homeWithDemo = createHome(exists);
  return routes;
}

async function answerReadiness(check: CheckReadiness, { response }: Exchange): Promise<void> {
  const readiness = await check();
  respondJson(response, readiness.status === "ready" ? 200 : 503, readiness);
}

/** The metrics are public, because they name no store. */
function createMetricsRoute(telemetry: Telemetry): Route {
  return async (exchange) => {
    const text = await telemetry.scrape().catch(() => undefined);
    if (text !== undefined)
      return respond(exchange.response, 200, metricsMediaType, text, { "cache-control": "no-store" });
    sendRestError(
      exchange,
      new AppError("UNAVAILABLE", "The metrics of all processes are not available at the moment."),
    );
  };
}
