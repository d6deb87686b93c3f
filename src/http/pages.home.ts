import { icon } from "./pages.icon.js";

/** `/`: what this is, and where to go. */
export const homePage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Vitrine</title>
<link rel="icon" href="${icon}">
<style>
  :root { color-scheme: light dark; font: 1rem/1.6 system-ui, sans-serif; }
  body { max-width: 40rem; margin: 4rem auto; padding: 0 1rem; }
</style>
<h1>Vitrine</h1>
<p>A store's product catalog and the analytics of its live shopping shows, over GraphQL and REST.</p>
<ul>
  <li><a href="/dashboard">Dashboard</a>: how live shows perform, as it happens</li>
  <li><a href="/graphql">GraphiQL</a>: explore the GraphQL API</li>
  <li><a href="/openapi.json">OpenAPI document</a> of the REST paths</li>
  <li><a href="/healthz">Health</a>, <a href="/readyz">readiness</a> and <a href="/metrics">metrics</a></li>
</ul>
</html>
`;
