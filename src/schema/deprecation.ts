import type { Context } from "./context.js";

/** In seconds: when siteId and siteType became deprecated, with the first version. */
const sitesDeprecatedAt = Date.UTC(2026, 10, 21) / 1_000;

interface SiteArguments {
  readonly siteId?: string | null | undefined;
  readonly siteType?: string | null | undefined;
}

/** Says in the headers of the answer that a call uses deprecated arguments (RFC 9745). Empty ones count as not given. */
export function announceSiteUse(
  { siteId, siteType }: SiteArguments,
  { setHeader, docsUrl }: Pick<Context, "setHeader" | "docsUrl">,
): void {
  if (!siteId && !siteType) return;
  setHeader("deprecation", `@${sitesDeprecatedAt}`);
  setHeader("link", `<${docsUrl}>; rel="deprecation"; type="text/html"`);
}
