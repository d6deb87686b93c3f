import { tokenHeader } from "../../../stores/token.js";
import { inScript } from "../pageToken.js";

/** The bar above GraphiQL: asks for the access token, or says that there is one. */
export const tokenBar = `
<header id="access">
  <form id="access-form">
    <label for="access-token">Access token</label>
    <input id="access-token" type="password" autocomplete="off" autocapitalize="off" spellcheck="false" placeholder="vt_…" aria-describedby="access-problem access-note">
    <button type="submit">Use token</button>
    <button type="button" id="access-cancel">Cancel</button>
    <span id="access-note">It stays in this tab until you close it.</span>
    <span id="access-problem" role="alert"></span>
  </form>
  <div id="access-known">
    <span id="access-whose"></span>
    <button type="button" id="access-replace">Replace token</button>
    <button type="button" id="access-forget">Forget token</button>
  </div>
</header>`;

/**
 * Asks for the access token once, keeps it in session storage, and sends it with each request whose headers have none.
 * Fetches the schema when there is a token. The dashboard at the same address uses the same token.
 *
 * @param demoToken used until the user enters a token
 */
export function tokenScript(demoToken: string | undefined): string {
  return `
{
const endpoint = location.origin + location.pathname;
const header = ${inScript(tokenHeader)};
const key = "vitrine.token " + new URL(".", location.href).pathname; // src/dashboard/session.ts has the same
const demo = ${inScript(demoToken ?? null)};
const part = (name) => document.querySelector("#access-" + name);
const form = part("form"), input = part("token");
const send = globalThis.fetch.bind(globalThis);
${sending}
${asking}
}`;
}

const sending = `
let token = stored() ?? demo;
let waiting = [];

function stored() {
  try {
    const value = sessionStorage.getItem(key);
    return value !== null && isSendable(value) ? value : null;
  } catch { return null; }
}
function isSendable(value) {
  return /^[\\x21-\\x7e]+$/u.test(value);
}
function store(value) {
  try { value === null ? sessionStorage.removeItem(key) : sessionStorage.setItem(key, value); } catch {} // the token is then lost on reload
}
function show(problem = "") {
  form.hidden = token !== null;
  part("known").hidden = token === null;
  part("cancel").hidden = true;
  part("whose").textContent = token === demo ? "Operations run with the token of the demo store." : "Operations run with your access token.";
  part("problem").textContent = problem;
  input.toggleAttribute("aria-invalid", problem !== "");
}
function use(value) {
  token = value;
  input.value = "";
  show();
  for (const proceed of waiting.splice(0)) proceed();
}
/** If the stored token no longer works, uses that of the demo store. */
function refuse(used) {
  if (used === null) return show("Enter your access token first: every operation needs one.");
  if (used !== token) return; // the user has replaced it since
  store(null);
  if (demo !== null && used !== demo) return use(demo);
  token = null;
  show("The access token no longer works: it was revoked or has expired. Enter another one.");
}

globalThis.fetch = async (address, options = {}) => {
  if (String(address) !== endpoint) return send(address, options);
  const headers = new Headers(options.headers);
  const isOwn = headers.has(header); // set in the tab's headers
  const isSchema = !isOwn && String(options.body).includes("IntrospectionQuery");
  for (;;) {
    if (isSchema && token === null) await new Promise((proceed) => waiting.push(proceed));
    const used = token;
    if (!isOwn && used !== null) headers.set(header, used);
    const response = await send(address, { ...options, headers });
    if (isOwn || response.status !== 401) return response;
    refuse(used);
    headers.delete(header);
    if (token === null && !isSchema) return response;
  }
};`;

const asking = `
/** Why a token cannot be used; undefined if it can. */
async function problemWith(value) {
  if (value === "") return "Enter an access token.";
  if (!isSendable(value)) return "The access token has characters that no token has. Copy it again.";
  try {
    const body = JSON.stringify({ query: "{ __typename }" });
    const headers = { [header]: value, "Content-Type": "application/json" };
    const { ok, status } = await send(endpoint, { method: "POST", headers, body, signal: AbortSignal.timeout(30_000) });
    if (status === 401) return "The server does not know this access token. Copy it again, or ask for a new one.";
    return ok ? undefined : "The server answered " + status + ". Try again in a moment.";
  } catch {
    return "The server cannot be reached. Try again in a moment.";
  }
}
form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const typed = input.value.trim();
  part("problem").textContent = "";
  const problem = await problemWith(typed);
  if (problem === undefined) {
    store(typed);
    return use(typed);
  }
  part("problem").textContent = problem;
  input.toggleAttribute("aria-invalid", true);
  input.focus();
});
part("cancel").addEventListener("click", () => show());
part("replace").addEventListener("click", () => {
  form.hidden = false;
  part("known").hidden = true;
  part("cancel").hidden = false;
  input.focus();
});
part("forget").addEventListener("click", () => {
  store(null);
  token = null;
  show();
  input.focus();
});
show();
if (token === null) input.focus();`;

export const tokenStyle = `
  body { display: flex; flex-direction: column; }
  #root { flex: 1; min-height: 0; }
  #root .graphiql-container { height: 100%; }
  #access { --ink: #3b4351; --ground: #f6f5fb; --line: #c9c5dc; --accent: #5b3df5; --problem: #b3261e; color-scheme: light; }
  @media (prefers-color-scheme: dark) {
    #access { --ink: #d9dde6; --ground: #1e1a2e; --line: #4b4566; --accent: #b3a4ff; --problem: #ff9d9d; color-scheme: dark; }
  }
  body.graphiql-light #access { --ink: #3b4351; --ground: #f6f5fb; --line: #c9c5dc; --accent: #5b3df5; --problem: #b3261e; color-scheme: light; }
  body.graphiql-dark #access { --ink: #d9dde6; --ground: #1e1a2e; --line: #4b4566; --accent: #b3a4ff; --problem: #ff9d9d; color-scheme: dark; }
  #access { background: var(--ground); color: var(--ink); border-bottom: 1px solid var(--line); font: .9rem/1.4 system-ui, sans-serif; }
  #access-form, #access-known { display: flex; flex-wrap: wrap; align-items: center; gap: .4rem .6rem; padding: .4rem .8rem; }
  #access-form[hidden], #access-known[hidden], #access [hidden] { display: none; }
  #access input { flex: 1 1 6rem; min-width: 0; max-width: 24rem; padding: .35rem .6rem; font: inherit; color: inherit; background: transparent; border: 1px solid var(--line); border-radius: .35rem; }
  #access button { padding: .35rem .8rem; font: inherit; color: var(--accent); background: transparent; border: 1px solid var(--accent); border-radius: .35rem; cursor: pointer; }
  #access button:focus-visible, #access input:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
  #access-whose { margin-right: auto; }
  #access-problem { flex-basis: 100%; color: var(--problem); }
  #access-problem:empty { display: none; }
`;
