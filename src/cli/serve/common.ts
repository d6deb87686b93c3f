import type { App } from "../../app.js";
import type { Config } from "../../config.js";
import { servesGraphiql } from "../../http/pages/graphiql.js";
import { listen, type RunningServer } from "../../http/server/server.js";
import type { Demo } from "../demo/demo.js";

/** A port that is had before there is an app to serve on it. */
interface EarlyServer {
  readonly server: RunningServer;
  /** Calls that came earlier have waited for this. */
  readonly open: (app: App) => void;
}

/** Listens before anything else is opened: all of that would have to be closed again where the port is taken. */
export async function listenEarly(config: Config): Promise<EarlyServer> {
  let open: (app: App) => void = () => undefined;
  const opened = new Promise<App>((resolve) => {
    open = resolve;
  });
  const server = await listen((request, response) => void opened.then((app) => app.handler(request, response)), config);
  return { server, open };
}

/**
 * Takes no new requests, lets running ones end in the time that they are given, and ends what the app itself started in what is
 * left of it. Without an app, calls wait in vain.
 */
export async function endService(server: RunningServer, app: App | undefined, config: Config): Promise<void> {
  if (app === undefined) return server.stop(0);
  const { shutdownGraceMs } = config;
  const endsAt = performance.now() + shutdownGraceMs;
  const stopped = server.stop(shutdownGraceMs);
  await app.feed.close(); // streams would otherwise keep the server up until the grace ends
  await stopped;
  await app.close(Math.max(0, endsAt - performance.now()));
}

/** What is printed once the service answers. */
export function banner(url: RunningServer["url"], config: Config, demo?: Demo): string {
  const lines = [
    `Vitrine listens on ${url}`,
    `  Dashboard  ${url}/dashboard`,
    ...(servesGraphiql(config) ? [`  GraphiQL   ${url}/graphql`] : []),
    `  API docs   ${url}/docs`,
    `  OpenAPI    ${url}/openapi.json`,
    ...(demo === undefined ? [] : demoLines(url, demo)),
  ];
  return `\n${lines.join("\n")}\n\n`;
}

function demoLines(url: string, { store, token, productId }: Demo): string[] {
  if (token === undefined) {
    return ["", `  For a token of store ${store}: npx vitrine token issue ${store}`];
  }
  return [
    "",
    `  Store      ${store}`,
    `  Token      ${token}`,
    `  Open       ${url}/dashboard#token=${encodeURIComponent(token)}`,
    "",
    `  curl -H 'X-Service-Access-Token: ${token}' ${url}/external/product/v1/${productId}`,
  ];
}
