import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { forAnyOrigin } from "../cors.js";
import type { Route } from "../exchange.js";
import { packageFile } from "../../lib/packageFiles.js";
import { createPage } from "./page.js";

export const trackerPath = "/tracker/v1.js";

const script = packageFile("dist/tracker/v1.js");

/**
 * None if it was not built. Pages of any origin may load it, isolated ones too. Its headers are the same with and without an
 * Origin, since caches give what was loaded without one to a page that sends it (`crossorigin`).
 */
export function trackerRoutes(): [path: string, route: Route][] {
  if (!existsSync(script)) return [];
  const page = createPage("text/javascript; charset=utf-8", () => readFile(script), {
    cacheControl: "public, max-age=3600",
    headers: { ...forAnyOrigin, "cross-origin-resource-policy": "cross-origin" },
    compressedFrom: 0,
  });
  return [[trackerPath, page]];
}
