import type * as parts from "@graphql-yoga/render-graphiql/graphiql";
import { createRequire } from "node:module";
import type { Route } from "../../http/exchange.js";
import { createPage, htmlPage, icon, immutable } from "../page.js";
import { examples } from "./graphiql.examples.js";
import { tokenBar, tokenScript, tokenStyle } from "./graphiql.token.js";
import { inScript } from "../pageToken.js";
import type { Config } from "../../../config.js";

type Parts = typeof parts;

const { version } = createRequire(import.meta.url)("@graphql-yoga/render-graphiql/package.json") as { version: string };
/** Relative, because a proxy may serve the page below any path. */
const folder = `graphql/assets/graphiql-${version}`;

const javaScript = "text/javascript; charset=utf-8";

const files: readonly (readonly [name: string, mediaType: string, part: keyof Parts])[] = [
  ["graphiql.js", javaScript, "js"],
  ["graphiql.css", "text/css; charset=utf-8", "css"],
  ["editor.worker.js", javaScript, "editorWorkerService"],
  ["json.worker.js", javaScript, "jsonWorker"],
  ["graphql.worker.js", javaScript, "graphqlWorker"],
];

/** Serves files of the installed package, at paths that contain its version. */
export function createGraphiqlFiles(): readonly (readonly [path: string, Route])[] {
  return files.map(([name, mediaType, part]) => [
    `/${folder}/${name}`,
    createPage(mediaType, async () => (await loadParts())[part], { cacheControl: immutable }),
  ]);
}

function loadParts(): Promise<Parts> {
  return import("@graphql-yoga/render-graphiql/graphiql");
}

/** GraphiQL with examples in tabs, and a bar for the access token. It calls the page's own address. */
export function graphiqlPage(token?: string): string {
  const [first, ...others] = examples.map(({ query, variables }) => ({
    query,
    variables: JSON.stringify(variables, null, 2),
  }));
  const options = {
    ...first, // given only in tabs, GraphiQL would show the query without its variables
    title: "Vitrine",
    logo: `<img src="${icon}" alt="" width="28" height="28">`,
    method: "POST", // also for subscriptions, because they may not fit into a URL
    shouldPersistHeaders: false,
    defaultTabs: [first, ...others],
    defaultEditorToolsVisibility: "variables",
  };
  const head = `<link rel="stylesheet" href="${folder}/graphiql.css">\n`;
  const body = `<body class="no-focus-outline">
<noscript>GraphiQL needs JavaScript.</noscript>
${tokenBar}
<div id="root"></div>
<script src="${folder}/graphiql.js"></script>
<script>
const options = ${inScript(options)};
const workers = { editorWorkerService: "editor", json: "json", graphql: "graphql" };
self.MonacoEnvironment = { globalAPI: false, getWorkerUrl: (_, label) => \`${folder}/\${workers[label]}.worker.js\` };
${fillTimes}
${reopenTab}
${tokenScript(token)}
YogaGraphiQL.renderYogaGraphiQL(document.querySelector("#root"), { ...options, onEditQuery() {} });
</script>
</body>`;
  return htmlPage({ title: "GraphiQL – Vitrine", head, style, body });
}

const style = `${tokenStyle}
  html, body { height: 100%; margin: 0; }
  .graphiql-container .graphiql-logo { color: inherit; }
  /* GraphiQL mistakes a press for a drag, and moves the tab away from the pointer. */
  .graphiql-container .graphiql-tab { transform: none !important; }
  @media (max-width: 48rem) {
    #graphiql-session { flex-direction: column; }
    .graphiql-horizontal-drag-bar { display: none; }
  }
`;

/** Rounds times to minutes, so that pages opened at about the same time send the same variables. */
const fillTimes = String.raw`
const minute = 60_000;
const now = Math.floor(Date.now() / minute) * minute;
const timeBefore = (_, days) => new Date(now - days * 24 * 60 * minute).toISOString();
for (const tab of [options, ...options.defaultTabs]) {
  tab.variables = tab.variables.replaceAll(/\{(\d+) days ago\}/g, timeBefore);
}`;

/** Without the content of the last open tab, GraphiQL adds an empty tab at each visit. */
const reopenTab = `
try {
  const { tabs, activeTabIndex } = JSON.parse(localStorage.getItem("graphiql:tabState"));
  const { query, variables } = tabs[activeTabIndex];
  Object.assign(options, { query, variables });
} catch {} // the first visit`;

/** GraphiQL is not served if only persisted operations run. */
export function servesGraphiql({ graphiql, persistedOperationsOnly }: Config): boolean {
  return graphiql && !persistedOperationsOnly;
}
