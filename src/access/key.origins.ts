import { Problems } from "../errors.js";
import { mustBe } from "../lib/mustBe.js";

const originsMax = 20;
/** A host has at most 253 characters (RFC 1035, section 2.3.4). */
const charactersMax = 270;
const subdomains = "*.";
/** In its place while a URL is parsed, whose host cannot have an asterisk. */
const anyLabel = "any-subdomain.";

const expected = "an origin such as https://shop.example, or https://*.shop.example for its subdomains";

/** The origin of sandboxed pages, which have none. */
export const sandboxed = "null";

/**
 * Origins as browsers send them: in lower case, in Punycode, without a default port or a trailing slash. Any scheme with a host:
 * pages of apps have their own, such as `capacitor://localhost`. Removes duplicates.
 *
 * @throws {AppError} VALIDATION_FAILED for none, too many, or anything but origins, naming the one that is probably meant
 */
export function parseOrigins(given: readonly string[]): string[] {
  const problems = new Problems();
  const origins = new Set<string>();
  given.forEach((text, index) => {
    const { origin, isAll = false } = originOf(text) ?? {};
    if (origin !== undefined && isAll) return origins.add(origin);
    const message = `${mustBe("origin", expected, text)}${origin === undefined ? "" : ` Use ${origin}.`}`;
    return problems.add({ code: "INVALID_VALUE", message, path: ["origins", index] });
  });
  if (given.length === 0 || origins.size > originsMax) {
    const message = `A key has 1 to ${originsMax} origins.`;
    problems.add({ code: "INVALID_VALUE", message, path: ["origins"] });
  }
  problems.throwIfAny();
  return [...origins];
}

/** The origin of a URL whose host may begin with `*.`, and whether the URL has nothing else. Undefined where there is none. */
function originOf(text: string): { readonly origin: string; readonly isAll: boolean } | undefined {
  const [, scheme, wildcard = "", rest = ""] = /^([a-z][a-z\d+.-]*:\/\/)(\*\.)?([^*\s]+)$/iu.exec(text) ?? [];
  const example = `${scheme}${wildcard === "" ? "" : anyLabel}${rest}`;
  if (scheme === undefined || text.length > charactersMax || !URL.canParse(example)) return undefined;
  const { protocol, host, hostname } = new URL(example);
  if (host === "") return undefined;
  const origin = `${protocol}//${host}`.toLowerCase(); // of schemes of apps, URL has none
  const isAll = /^[^/?#@\\]+\/?$/u.test(rest);
  if (wildcard === "") return { origin, isAll };
  const hasDomain = hostname.slice(anyLabel.length).includes(".");
  return hasDomain ? { origin: origin.replace(anyLabel, subdomains), isAll } : undefined;
}

/** Whether a page of this origin may use a key with these. */
export function isAmong(origins: readonly string[], origin: string): boolean {
  return origins.some((allowed) => {
    const [scheme = "", host] = allowed.split(subdomains);
    if (host === undefined) return origin === allowed;
    return origin.startsWith(scheme) && origin.endsWith(`.${host}`) && origin.length > allowed.length - 1;
  });
}

/**
 * Whether what a page names as its viewer's source is a host of these origins, or below one of them: a page of the same shop.
 * Ports, `www.` and case make no difference.
 */
export function isOwnHost(origins: readonly string[], source: string): boolean {
  const host = plainHost(source);
  return origins.some((origin) => {
    const own = plainHost(origin.split("/")[2]?.replace(subdomains, "") ?? "");
    return own !== "" && (host === own || host.endsWith(`.${own}`));
  });
}

function plainHost(host: string): string {
  return host
    .toLowerCase()
    .replace(/^www\./u, "")
    .replace(/:\d+$/u, "");
}
