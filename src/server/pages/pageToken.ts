import type { IncomingMessage } from "node:http";
import { type Route, isThroughProxy } from "../http/exchange.js";
import { createPage } from "./page.js";

/** The token that pages fill in. Undefined if there is no demo store. */
export type DemoToken = () => string | undefined;

const html = "text/html; charset=utf-8";

/** Fills in the demo token only for browsers on this machine. */
export function createTokenPage(make: (token?: string) => string, demoToken: DemoToken): Route {
  const open = createPage(html, () => make());
  let filled: { readonly token: string; readonly page: Route } | undefined;
  return (exchange) => {
    const token = demoToken();
    if (token === undefined || !isFromThisMachine(exchange.request)) return open(exchange);
    if (filled?.token !== token)
      filled = { token, page: createPage(html, () => make(token), { cacheControl: "no-store" }) };
    return filled.page(exchange);
  };
}

/** Writes JSON that is safe in an inline script. */
export function inScript(value: unknown): string {
  return JSON.stringify(value).replaceAll("<", String.raw`\u003c`);
}

const loopback = /^(?:(?:::ffff:)?127\.\d+\.\d+\.\d+|::1)$/u;
const ownNames = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/iu;

/**
 * Whether the request comes over loopback to a loopback name (against DNS rebinding), and neither from a script of
 * another site nor through a proxy.
 */
function isFromThisMachine(request: IncomingMessage): boolean {
  const { socket, headers } = request;
  return (
    loopback.test(socket.remoteAddress ?? "") &&
    ownNames.test(headers.host ?? "") &&
    headers.origin === undefined &&
    !isThroughProxy(request)
  );
}
