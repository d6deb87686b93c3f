import type { Context } from "./context.js";

/** The first version deprecated siteId and siteType, in seconds. */
const sitesDeprecatedAt = Date.UTC(2026, 10, 21) / 1_000;

interface SiteArguments {
  readonly siteId?: string | null | undefined;
  readonly siteType?: string | null | undefined;
}

/** Sets headers for a call with deprecated arguments (RFC 9745). Empty ones count as not given. */
export function announceSiteUse(
  { siteId, siteType }: SiteArguments,
  { setHeader, docsUrl }: Pick<Context, "setHeader" | "docsUrl">,
): void {
  if (!siteId && !siteType) return;
  setHeader("deprecation", `@${sitesDeprecatedAt}`);
  setHeader("link", `<${docsUrl}>; rel="deprecation"; type="text/html"`);
}
