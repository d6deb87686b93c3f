import { once } from "node:events";
import { createServer, request as ask, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import type { BrowserContextOptions } from "playwright-core";
import { issueKey } from "../../../src/stores/publicKey.js";
import { createTestStore, type TestApp, type TestStore } from "../app.js";
import type { TestBrowser, TestPage } from "./browser.js";
import { readKpis, saved } from "../shows.js";

/** What the way to the service does with a request for `/collect/v1`. */
type Mood =
  | "forward"
  | "drop"
  | "lose the answer"
  | { readonly status: number; readonly retryAfter?: string; readonly body?: object };

/** A shop of another origin than the service, whose pages report a show of a store of its own. */
export interface Shop {
  readonly url: string;
  readonly store: TestStore;
  readonly lsId: string;
  readonly key: string;
  /** Bodies of requests for `/collect/v1` that have arrived, whatever became of them. */
  readonly sent: { readonly show: string; readonly events: readonly SentByPage[] }[];
  /** What becomes of requests from now on. */
  set(mood: Mood): void;
  kpis(lsId?: string): Promise<any>;
  /** How many events the store has, of all shows. */
  storedEvents(): Promise<number>;
  open(browser: TestBrowser, attributes?: string, options?: BrowserContextOptions): Promise<TestPage>;
}

interface SentByPage {
  readonly id: string;
  readonly type: string;
  readonly viewerId: string;
  readonly channel: string;
  readonly source?: string;
  readonly seconds?: number;
  readonly occurredAt?: string;
}

/** That of headless browsers is a bot's. */
export const person = {
  userAgent: "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/144.0.0.0 Safari/537.36",
};

/** In a file of the shop, because its Content-Security-Policy allows no inline script. The video is drawn on a canvas. */
const ownScript = `
  window.vitrine = window.vitrine || { q: [], push(c) { this.q.push(c) } };
  const video = document.querySelector("video");
  const canvas = Object.assign(document.createElement("canvas"), { width: 32, height: 32 });
  setInterval(() => canvas.getContext("2d").fillRect(Math.random() * 32, 0, 9, 9), 125);
  video.srcObject = canvas.captureStream(8);
  // How long it really played, by its own account.
  let since, played = 0;
  const stop = () => { if (since !== undefined) played += performance.now() - since; since = undefined };
  video.addEventListener("playing", () => { since ??= performance.now() });
  video.addEventListener("pause", stop);
  window.playedSeconds = () => (played + (since === undefined ? 0 : performance.now() - since)) / 1000;
  if (location.search.includes("watch")) vitrine.push(["watch", video]);
  for (const command of JSON.parse(new URLSearchParams(location.search).get("push") ?? "[]")) vitrine.push(command);
`;

/**
 * A store with a live show and a key for the shop's pages, which call the service through a gate that tests can close.
 *
 * @param headers of the shop's pages, besides their Content-Security-Policy
 */
export async function openShop(app: TestApp, headers: Readonly<Record<string, string>> = {}): Promise<Shop> {
  const store = await createTestStore(app);
  const { id: lsId } = await saved(store, { status: "LIVE", durationSeconds: null });
  const sent: Shop["sent"] = [];
  let mood: Mood = "forward";
  const gate = await serveUntilFinished((request, response) => {
    void passOn(request, response, app.url, request.method === "POST" ? mood : "forward", (body) =>
      sent.push(JSON.parse(body) as Shop["sent"][number]),
    );
  });
  const shop = await serveUntilFinished((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://shop.example");
    const isScript = pathname === "/shop.js";
    response.writeHead(200, {
      ...headers,
      "content-type": isScript ? "text/javascript" : "text/html",
      "content-security-policy": `default-src 'none'; img-src data:; script-src 'self' ${gate}/tracker/v1.js; connect-src ${gate}/collect/v1`,
    });
    response.end(isScript ? ownScript : pageOf(gate, key, lsId, searchParams.get("attributes") ?? ""));
  });
  const { key } = await issueKey(app.db, store.id, { origins: [shop] });
  return {
    url: shop,
    store,
    lsId,
    key,
    sent,
    set: (next) => void (mood = next),
    kpis: async (id = lsId) => readKpis(store, id),
    storedEvents: () => app.db.showEvent.count({ where: { storeId: store.id } }),
    open: (browser, query = "watch", options = {}) => browser.open(`${shop}/?${query}`, { ...person, ...options }),
  };
}

function pageOf(gate: string, key: string, lsId: string, attributes: string): string {
  return `<!doctype html><html lang="en"><title>Shop</title><link rel="icon" href="data:,"><video muted></video>
    <script src="/shop.js"></script>
    <script async src="${gate}/tracker/v1.js" data-key="${key}" data-show="${lsId}" ${attributes}></script>`;
}

const cors = { "access-control-allow-origin": "*", "access-control-expose-headers": "Retry-After" };

async function passOn(
  request: IncomingMessage,
  response: ServerResponse,
  to: string,
  mood: Mood,
  note: (body: string) => void,
): Promise<void> {
  const body = Buffer.concat(await request.toArray());
  if (request.method === "POST") note(body.toString());
  if (mood === "drop") return void request.socket.destroy();
  if (typeof mood === "object") {
    response.setHeaders(
      new Map(Object.entries({ ...cors, ...(mood.retryAfter && { "retry-after": mood.retryAfter }) })),
    );
    if (mood.body === undefined)
      return void response.writeHead(mood.status, { "content-type": "text/html" }).end("<p>Hello");
    response.writeHead(mood.status, { "content-type": "application/problem+json" });
    return void response.end(JSON.stringify(mood.body));
  }
  const { method, url, headers } = request;
  const onward = ask(`${to}${url}`, { method, headers: { ...headers, host: new URL(to).host } }, (answer) => {
    if (mood === "lose the answer") return request.socket.destroy();
    response.writeHead(answer.statusCode ?? 500, answer.headers);
    return answer.pipe(response);
  });
  onward.on("error", () => request.socket.destroy());
  onward.end(body);
}

/** A server on a port, and so an origin, of its own until the test ends. */
export async function serveUntilFinished(handler: (request: IncomingMessage, response: ServerResponse) => void) {
  const server: Server = createServer(handler);
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
