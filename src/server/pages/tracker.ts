import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import type { Config } from "../../config.js";
import { forAnyOrigin, type Route } from "../http/exchange.js";
import { packageFile } from "../../lib/packageFiles.js";
import { createPage, immutable } from "./page.js";

const file = packageFile("dist/tracker/v1.js");
/** The file's name contains 60 bits of the digest. */
const hashCharacters = 10;

/** Where the tracker is served. TRACKING_PATH adds a name that no blocklist contains. */
export function trackerFolders({ trackingPath }: Pick<Config, "trackingPath">): readonly string[] {
  return ["/tracker", ...(trackingPath === undefined ? [] : [trackingPath])];
}

/**
 * Serves the tracker's script at its address, and at one with its hash for pages that specify `integrity`. Empty if it was not built.
 * Pages of any origin may load it, including isolated ones. Its headers do not depend on Origin: a cache may have loaded it without
 * one, and then gives it to a page that sends one (`crossorigin`).
 *
 * @param folders in which it is served, such as `/tracker`
 */
export function trackerRoutes(folders: readonly string[]): [path: string, route: Route][] {
  if (!existsSync(file)) return [];
  const script = readFileSync(file);
  const digest = createHash("sha256").update(script);
  const hashed = `v1.${digest.copy().digest("base64url").slice(0, hashCharacters)}.js`;
  const serve = (cacheControl: string) =>
    createPage("text/javascript; charset=utf-8", () => script, {
      cacheControl,
      headers: {
        ...forAnyOrigin,
        "cross-origin-resource-policy": "cross-origin",
        "content-location": hashed, // RFC 9110, section 8.7
        "repr-digest": `sha-256=:${digest.copy().digest("base64")}:`, // of the uncompressed script (RFC 9530)
      },
      compressedFrom: 0,
    });
  const [latest, kept] = [serve("public, max-age=3600"), serve(immutable)];
  return folders.flatMap((folder): [string, Route][] => [
    [`${folder}/v1.js`, latest],
    [`${folder}/${hashed}`, kept],
  ]);
}
