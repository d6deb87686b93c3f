import { readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { extname } from "node:path";
import type { Route } from "../http/exchange.js";
import { packageFile } from "../../lib/packageFiles.js";
import { createPage, immutable } from "./page.js";

const bundle = packageFile("dist/dashboard/");

const mediaTypes: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** Stricter than that of other pages: only allows scripts and styles from this server. Product images are on other hosts. */
const contentSecurityPolicy = (frameAncestors: readonly string[]): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' https:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    ["frame-ancestors", ...(frameAncestors.length === 0 ? ["'none'"] : frameAncestors)].join(" "),
  ].join("; ");

/**
 * Empty if the dashboard was not built. Each file is read at its first request.
 *
 * @param frameAncestors origins of pages that may show the dashboard in a frame
 */
export function dashboardRoutes(frameAncestors: readonly string[]): [path: string, route: Route][] {
  const assets = namesOfAssets().flatMap((name): [string, Route][] => {
    const mediaType = mediaTypes[extname(name)];
    if (mediaType === undefined) return [];
    const read = () => readFile(new URL(`assets/${name}`, bundle));
    return [[`/dashboard/assets/${name}`, createPage(mediaType, read, { cacheControl: immutable })]];
  });
  if (assets.length === 0) return [];
  const page = () => readFile(new URL("index.html", bundle));
  return [
    [
      "/dashboard",
      createPage("text/html; charset=utf-8", page, {
        policy: () => contentSecurityPolicy(frameAncestors),
        isFramed: frameAncestors.length > 0,
      }),
    ],
    ...assets,
  ];
}

export async function readDashboardOperations(): Promise<readonly string[]> {
  if (namesOfAssets().length === 0) return [];
  return JSON.parse(await readFile(new URL("operations.json", bundle), "utf8")) as string[]; // src/dashboard/vite.config.ts wrote it
}

function namesOfAssets(): string[] {
  try {
    return readdirSync(new URL("assets/", bundle));
  } catch {
    return [];
  }
}
