import type { IncomingMessage } from "node:http";
import type { Route } from "./exchange.js";
import { createPage } from "./page.js";

/** The token of the demo store while this process knows it, for pages to fill in. */
export type DemoToken = () => string | undefined;

const html = "text/html; charset=utf-8";

/**
 * A page with a field for the access token. The demo store's token is filled in for who sits at the machine that serves;
 * everybody else gets the page without it.
 */
export function createTokenPage(make: (token?: string) => string, demoToken: DemoToken): Route {
  const open = createPage(html, () => make());
  let filled: { readonly token: string; readonly page: Route } | undefined;
  return (exchange) => {
    const token = demoToken();
    if (token === undefined || !isOwnVisit(exchange.request)) return open(exchange);
    if (filled?.token !== token) filled = { token, page: createPage(html, () => make(token), "no-store") };
    return filled.page(exchange);
  };
}

/** As JSON that may stand in an inline script, whatever texts it holds. */
export function inScript(value: unknown): string {
  return JSON.stringify(value).replaceAll("<", String.raw`\u003c`);
}

const loopback = /^(?:(?:::ffff:)?127\.\d+\.\d+\.\d+|::1)$/u;
const ownNames = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/iu;
const passedOn = ["origin", "forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip"];

/**
 * Whether a request comes from a person's browser on this machine: over loopback, to a name that is this machine's own (or
 * a site could point its name here, and read), not from a script of another site (which CORS would let read), and not
 * handed on by a proxy.
 */
function isOwnVisit({ socket, headers }: IncomingMessage): boolean {
  return (
    loopback.test(socket.remoteAddress ?? "") &&
    ownNames.test(headers.host ?? "") &&
    passedOn.every((name) => headers[name] === undefined)
  );
}
