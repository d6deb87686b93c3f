import { Problems } from "../errors.js";
import { mustBe } from "../lib/mustBe.js";

const originsMax = 20;
/** A host has at most 253 characters (RFC 1035, section 2.3.4). */
const charactersMax = 270;
const subdomains = "*.";

const expected = "an origin such as https://shop.example, or https://*.shop.example for its subdomains";

/**
 * Removes duplicates.
 *
 * @throws {AppError} VALIDATION_FAILED for none, too many, or anything but an origin as browsers send it
 */
export function parseOrigins(given: readonly string[]): string[] {
  const origins = [...new Set(given)];
  const problems = new Problems();
  if (origins.length === 0 || origins.length > originsMax) {
    const message = `A key has 1 to ${originsMax} origins.`;
    problems.add({ code: "INVALID_VALUE", message, path: ["origins"] });
  }
  origins.forEach((origin, index) => {
    if (isOrigin(origin)) return;
    problems.add({ code: "INVALID_VALUE", message: mustBe("origin", expected, origin), path: ["origins", index] });
  });
  problems.throwIfAny();
  return origins;
}

/** Scheme, host and port as in the header Origin; the first label of a host with at least two others may be `*`. */
function isOrigin(text: string): boolean {
  if (text.length > charactersMax || !/^https?:\/\//u.test(text)) return false;
  const [, host] = /^https?:\/\/\*\.([^:]+)/u.exec(text) ?? [];
  const example = host === undefined ? text : text.replace(subdomains, "any.");
  if (example.includes("*") || !URL.canParse(example) || new URL(example).origin !== example) return false;
  return host === undefined || (host.includes(".") && !/^[\d.]+$/u.test(host));
}

/** Whether a page of this origin may use a key with these. */
export function isAmong(origins: readonly string[], origin: string): boolean {
  return origins.some((allowed) => {
    const [scheme = "", host] = allowed.split(subdomains);
    if (host === undefined) return origin === allowed;
    return origin.startsWith(scheme) && origin.endsWith(`.${host}`) && origin.length > allowed.length - 1;
  });
}
