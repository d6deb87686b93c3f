import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { Route } from "../http/exchange.js";
import { createPage, htmlPage, immutable } from "./page.js";
import { inScript } from "./pageToken.js";

export const docsPath = "/docs";

const require = createRequire(import.meta.url);
const { version } = require("swagger-ui-dist/package.json") as { version: string };
/** Relative, because a proxy may serve the page below any path. */
const folder = `docs/assets/swagger-ui-${version}`;

const files = [
  ["swagger-ui-bundle.js", "text/javascript; charset=utf-8"],
  ["swagger-ui.css", "text/css; charset=utf-8"],
] as const;

/** Serves files of the installed package, at paths that contain its version. */
export function createDocsFiles(): readonly (readonly [path: string, Route])[] {
  return files.map(([name, mediaType]) => [
    `/${folder}/${name}`,
    createPage(mediaType, () => readFile(require.resolve(`swagger-ui-dist/${name}`)), {
      cacheControl: immutable,
    }),
  ]);
}

/** Swagger UI for `/openapi.json`. It does not store tokens that users type. */
export function docsPage(token?: string): string {
  const head = `<link rel="stylesheet" href="${folder}/swagger-ui.css">\n`;
  const body = `<body>
<noscript>The API reference needs JavaScript. What it shows is in <a href="openapi.json">openapi.json</a>.</noscript>
<main id="reference"></main>
<script src="${folder}/swagger-ui-bundle.js"></script>
<script>
const dark = matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", follow);
follow();
const token = ${inScript(token ?? null)};
// The only server is that of this page. Behind a proxy, the document may name another address.
const url = new URL(".", location.href).href.replace(/\\/$/u, "");
const updateJsonSpec = (update) => (document) => update({ ...document, servers: [{ url }] });
const ui = SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#reference",
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  tryItOutEnabled: true,
  validatorUrl: null,
  plugins: [() => ({ wrapComponents: { ServersContainer: () => () => null }, statePlugins: { spec: { wrapActions: { updateJsonSpec } } } })],
  onComplete: () => token !== null && ui.preauthorizeApiKey("accessToken", token),
});
</script>
</body>`;
  return htmlPage({ title: "API reference – Vitrine", head, style, body });
}

const style = `
  body { margin: 0; }
  .swagger-ui .info { margin: 2rem 0; }
  .swagger-ui .scheme-container { margin: 0; padding: 1rem 0; box-shadow: none; }
  .swagger-ui .microlight span[style*="211, 99, 99"] { color: #ff9d9d !important; }
  .swagger-ui .download-contents { background: #4a5060; }
  .swagger-ui .response-col_links { display: none; } /* there are no links, and the column does not fit a phone */
  html:not(.dark-mode) {
    .swagger-ui .info .title small { background: #5f6673; }
    .swagger-ui .info .title small.version-stamp { background: #4a6b00; }
    .swagger-ui .info a, .swagger-ui .info .link .url { color: #1f63a8; }
    .swagger-ui .btn.authorize { color: #14724a; border-color: #14724a; }
    .swagger-ui .btn.authorize svg { fill: #14724a; }
    .swagger-ui .btn.cancel { color: #b3261e; border-color: #b3261e; }
    .swagger-ui .btn.execute { background: #1f63a8; border-color: #1f63a8; }
    .swagger-ui .opblock-post .opblock-summary-method { background: #17794d; }
    .swagger-ui .opblock-get .opblock-summary-method { background: #1f63a8; }
    .swagger-ui .opblock-delete .opblock-summary-method { background: #b3261e; }
    .swagger-ui .opblock-put .opblock-summary-method { background: #8a4b00; }
    .swagger-ui .parameter__in { color: #5a5f66; }
    .swagger-ui .parameter__deprecated { color: #b3261e; }
  }
  @media (prefers-reduced-motion: reduce) { .swagger-ui * { transition: none !important; animation: none !important; } }
  html.dark-mode {
    .swagger-ui .parameter__deprecated { color: #ff9d9d; }
    .swagger-ui .opblock .opblock-section-header .try-out__btn.cancel { color: #ff9d9d; border-color: #ff9d9d; }
    .swagger-ui .header-col { color: #e4e6e6; }
  }
`;
