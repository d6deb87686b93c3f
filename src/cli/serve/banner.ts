import type { Config } from "../../config.js";
import { servesGraphiql } from "../../http/pages/graphiql/graphiql.js";
import { isMigrated } from "../../database/migrations/applied.js";
import type { OpenDatabase } from "../../database/open.js";
import type { Demo } from "../demo/demo.js";

/** Whether the two commands of a first start come next. */
export async function hasNoStore({ client }: Pick<OpenDatabase, "client">): Promise<boolean> {
  return (await isMigrated(client)) && (await client.store.count()) === 0;
}

interface Contents {
  readonly demo?: Demo | undefined;
  readonly isEmpty?: boolean;
}

/** The text for standard output once the service answers. */
export function banner(address: string, config: Config, { demo, isEmpty = false }: Contents = {}): string {
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
