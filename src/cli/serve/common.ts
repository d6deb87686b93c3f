import type { App } from "../../app.js";
import type { Config } from "../../config.js";
import { servesGraphiql } from "../../http/pages/graphiql.js";
import { listen, type RunningServer } from "../../http/server/server.js";
import { isMigrated } from "../../database/migrations/applied.js";
import type { OpenDatabase } from "../../database/open.js";
import type { Demo } from "../demo/demo.js";

/** A server that listens before there is an app. */
interface EarlyServer {
  readonly server: RunningServer;
  /** Starts to answer; earlier requests have waited. */
  readonly open: (app: App) => void;
}

/** Listens before the app is created, so that a port in use is found first. */
export async function listenEarly(config: Config): Promise<EarlyServer> {
  let open: (app: App) => void = () => undefined;
  const opened = new Promise<App>((resolve) => {
    open = resolve;
  });
  const server = await listen((request, response) => void opened.then((app) => app.handler(request, response)), config);
  return {
    server,
    open,
  };
}

/** Shuts down gracefully: running requests, then the app, have SHUTDOWN_GRACE_MS together. Without an app, it stops at once. */
export async function endService(server: RunningServer, app: App | undefined, config: Config): Promise<void> {
  if (app === undefined) return server.stop(0);
  const { shutdownGraceMs } = config;
  const endsAt = performance.now() + shutdownGraceMs;
  const stopped = server.stop(shutdownGraceMs);
  await app.feed.close(); // open streams would use up the grace period
  await stopped;
  await app.close(Math.max(0, endsAt - performance.now()));
}

/** Whether the two commands of a first start come next. */
export async function hasNoStore({ client }: Pick<OpenDatabase, "client">): Promise<boolean> {
  return (await isMigrated(client)) && (await client.store.count()) === 0;
}

interface Contents {
  readonly demo?: Demo | undefined;
  readonly isEmpty?: boolean;
}

/** The text for standard output once the service answers. */
export function banner(
  address: RunningServer["url"],
  config: Config,
  { demo, isEmpty = false }: Contents = {},
): string {
  const url = `${address}${config.basePath ?? ""}`;
  const lines = [
    `Vitrine listens on ${address}`,
    ...(demo?.shop === undefined ? [] : [`  Demo shop  ${url}/demo`]),
    `  Dashboard  ${url}/dashboard`,
    ...(servesGraphiql(config) ? [`  GraphiQL   ${url}/graphql`] : []),
    `  API docs   ${url}/docs`,
    `  OpenAPI    ${url}/openapi.json`,
    ...(demo === undefined ? [] : demoLines(url, demo)),
    ...(isEmpty ? firstSteps : []),
  ];
  return `\n${lines.join("\n")}\n\n`;
}

const firstSteps = [
  "",
  "  There is no store yet. Create one, and a token for its callers:",
  "    npx vitrine store create acme",
  "    npx vitrine token issue acme",
];

function demoLines(url: string, { store, token, readOnlyToken, productId }: Demo): string[] {
  if (token === undefined || readOnlyToken === undefined) {
    return ["", `  For a token of store ${store}: npx vitrine token issue ${store}`];
  }
  return [
    "",
    `  Store      ${store}`,
    `  Token      ${token}`,
    `  Open       ${url}/dashboard#token=${encodeURIComponent(token)}`,
    `  Read-only  ${url}/dashboard#token=${encodeURIComponent(readOnlyToken)}`,
    "",
    `  curl -H 'X-Service-Access-Token: ${token}' ${url}/external/product/v1/${productId}`,
  ];
}
