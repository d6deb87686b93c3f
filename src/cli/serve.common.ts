import type { App } from "../app.js";
import type { Config } from "../config.js";
import { servesGraphiql } from "../http/pages.graphiql.shown.js";
import type { RunningServer } from "../http/server.js";
import type { Demo } from "./demo.js";

/** Takes no new requests, lets running ones end in the time that they are given, and ends what the app started in what is left of it. */
export async function endService(server: RunningServer, app: App, { shutdownGraceMs }: Config): Promise<void> {
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
    return [
      "",
      `  The token of store ${store} was shown when it was made. For another: npx vitrine token issue ${store}`,
    ];
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
