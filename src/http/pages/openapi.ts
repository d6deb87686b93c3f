import { LRUCache } from "lru-cache";
import type { Route } from "../exchange.js";
import { createPage } from "./page.js";
import { relativeServerUrl, serverUrlOf } from "./serverUrl.js";

const mediaType = "application/json; charset=utf-8";

/** The most addresses for which a document is kept, of about 0.1 MB each. */
const addressesMax = 16;

/** A document with an address from the request is for the caller alone. */
export function createOpenApiPage(write: (serverUrl: string) => string, basePath: string | undefined): Route {
  const relative = relativeServerUrl(basePath);
  const relativePage = createPage(mediaType, () => write(relative));
  const absolutePages = new LRUCache<string, Route>({ max: addressesMax });
  return (exchange) => {
    const serverUrl = serverUrlOf(exchange.request, basePath);
    if (serverUrl === relative) return relativePage(exchange);
    const known = absolutePages.get(serverUrl);
    const page = known ?? createPage(mediaType, () => write(serverUrl), { cacheControl: "private, no-cache" });
    if (known === undefined) absolutePages.set(serverUrl, page);
    return page(exchange);
  };
}
