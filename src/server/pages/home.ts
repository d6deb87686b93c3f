import { htmlPage, icon } from "./page.js";

interface Link {
  readonly path: string;
  readonly name: string;
  readonly about?: string;
}

const pages: readonly Link[] = [
  {
    path: "/demo",
    name: "Demo shop",
    about: "A shop with a running show: watch, add to the cart, and see both in the analytics.",
  },
  { path: "/graphql", name: "GraphiQL", about: "Write GraphQL operations and run them, subscriptions too." },
  { path: "/docs", name: "API reference", about: "The REST paths, with examples, to be tried in place." },
  {
    path: "/dashboard",
    name: "Dashboard",
    about: "How live shows perform while they run, and which products they sell.",
  },
  { path: "/openapi.json", name: "OpenAPI document", about: "The REST paths for programs: clients, tests, gateways." },
];

const probes: readonly Link[] = [
  { path: "/healthz", name: "Health" },
  { path: "/readyz", name: "Readiness" },
  { path: "/metrics", name: "Metrics" },
];

/** Links are relative, so the address must end with a slash. Behind a proxy it may not. */
const addSlash = `location.pathname.endsWith("/") || location.replace(location.pathname + "/")`;

/** Links to the pages that exist. @param basePath the path below which a proxy serves it, which the page shows */
export function homePage(exists: (path: string) => boolean, basePath = ""): string {
  const cards = pages
    .filter(({ path }) => exists(path))
    .map(
      ({ path, name, about }) => `
    <li><a href="${path.slice(1)}"><strong>${name}</strong> <span>${about}</span> <code>${basePath}${path}</code></a></li>`,
    );
  const small = probes
    .filter(({ path }) => exists(path))
    .map(({ path, name }) => `<a href="${path.slice(1)}">${name}</a>`);
  const body = `<script>${addSlash}</script>
<body>
<header>
  <img src="${icon}" alt="" width="56" height="56">
  <h1>Vitrine</h1>
  <p>A store's product catalog and the analytics of its live shopping shows, over GraphQL and REST.</p>
</header>
<main>
  <ul>${cards.join("")}
  </ul>
  <p>Calls need the store's access token in the header <code>X-Service-Access-Token</code>.
  To get one: <code>npx vitrine store create STORE</code>, where there is no store yet, and then
  <code>npx vitrine token issue STORE</code></p>
</main>
<footer><nav aria-label="State of the service">${small.join(" ")}</nav></footer>
</body>`;
  return htmlPage({ title: "Vitrine", style, body });
}

const style = `
  :root {
    --ink: #1b1730; --soft: #5a5572; --ground: #f6f5fb; --card: #fff; --line: #dedaf0; --accent: #5b3df5;
    font: 1rem/1.55 system-ui, sans-serif;
  }
  @media (prefers-color-scheme: dark) {
    :root { --ink: #f1effa; --soft: #b3adcb; --ground: #14111f; --card: #1e1a2e; --line: #37314f; --accent: #b3a4ff; }
  }
  * { box-sizing: border-box; }
  body {
    margin: 0 auto; padding: clamp(2rem, 8vw, 6rem) 1.25rem 2rem; max-width: 60rem;
    background: var(--ground); color: var(--ink);
  }
  header { margin-bottom: 2.5rem; }
  h1 { margin: .5rem 0 0; font-size: clamp(2.25rem, 7vw, 3.25rem); line-height: 1.1; letter-spacing: -.02em; }
  header p { margin: .75rem 0 0; max-width: 36rem; font-size: 1.2rem; color: var(--soft); }
  ul { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 22rem), 1fr)); gap: 1rem; margin: 0; padding: 0; list-style: none; }
  li a {
    display: flex; flex-direction: column; gap: .35rem; height: 100%; padding: 1.25rem 1.4rem;
    background: var(--card); color: inherit; border: 1px solid var(--line); border-radius: .9rem; text-decoration: none;
  }
  li a:hover { border-color: var(--accent); }
  li strong { font-size: 1.15rem; }
  li span { flex: 1; color: var(--soft); }
  li code { color: var(--accent); }
  code { font: .9em ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
  main p { margin: 2rem 0 0; color: var(--soft); }
  main p code { color: var(--ink); overflow-wrap: anywhere; }
  footer { margin-top: 2.5rem; padding-top: 1rem; border-top: 1px solid var(--line); }
  footer nav { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; }
  footer a { color: var(--accent); }
  a:focus-visible { outline: 3px solid var(--accent); outline-offset: 3px; }
`;
