import type { Context } from "./context.js";

/** The first version deprecated siteId and siteType. */
const sitesDeprecatedAt = new Date(Date.UTC(2026, 10, 21));

interface SiteArguments {
  readonly siteId?: string | null | undefined;
  readonly siteType?: string | null | undefined;
}

/** Notes a call with deprecated arguments. Empty ones count as not given. */
export function noteSiteUse({ siteId, siteType }: SiteArguments, { notify }: Pick<Context, "notify">): void {
  if (siteId || siteType) notify({ kind: "deprecated", at: sitesDeprecatedAt });
}
