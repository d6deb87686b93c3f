import type { Path, Problem } from "../../errors.js";
import { mustBe } from "../../lib/mustBe.js";
import { invisibleIn, textFault } from "../../lib/text.js";
import type { ProductField } from "./product.fields.js";

/** Costly messages are made on demand, from the value as it was sent, because problems beyond the listed ones are only counted. */
type Message = string | ((sent?: unknown) => string);
export type Report = (field: string | Path, code: Problem["code"], message: Message) => void;
/** Reports what is wrong with the value of a field. */
export type Rule = (value: unknown, field: string, report: Report) => void;

/** In Unicode characters. */
export const urlCharactersMax = 2_048;
export const imagesMax = 250;
export const priceMin = 0;

/** What the values of a field must be. */
export function ruleOf(field: ProductField): Rule {
  if (field.kind !== "text") return { url, urls, price, flag }[field.kind];
  return text(field.charactersMax, { mayBeBlank: !field.required, isVisible: "isVisible" in field });
}

function text(max: number, { mayBeBlank = false, isVisible = false } = {}): Rule {
  return (value, field, report) => {
    if (typeof value !== "string")
      return report(field, "INVALID_TYPE", (sent = value) => mustBe(field, "a string", sent));
    const fault = textFault(value, field, max, mayBeBlank);
    if (fault !== undefined) return report(field, fault.code, fault.message);
    const hidden = isVisible ? invisibleIn(value) : undefined;
    if (hidden === undefined) return;
    const code = hidden.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0") ?? "";
    const rule = "must not contain a control or format character";
    report(field, "INVALID_VALUE", `${field} ${rule} (U+${code}): nobody sees it.`);
  };
}

function price(value: unknown, field: string, report: Report): void {
  if (typeof value !== "number")
    return report(field, "INVALID_TYPE", (sent = value) => mustBe(field, "a number", sent));
  if (!Number.isFinite(value) || value < priceMin) {
    return report(field, "INVALID_VALUE", (sent = value) =>
      mustBe(field, `a finite number of ${priceMin} or more`, sent),
    );
  }
}

function flag(value: unknown, field: string, report: Report): void {
  if (typeof value !== "boolean") report(field, "INVALID_TYPE", (sent = value) => mustBe(field, "true or false", sent));
}

function urls(value: unknown, field: string, report: Report): void {
  if (!Array.isArray(value))
    return report(field, "INVALID_TYPE", (sent = value) => mustBe(field, "an array of strings", sent));
  if (value.length > imagesMax) return report(field, "TOO_LONG", `${field} must hold at most ${imagesMax} URLs.`);
  value.forEach((item: unknown, index) => {
    if (isPlainUrl(item)) return;
    checkUrl(item, `${field}[${index}]`, (_, code, message) => report([field, index], code, message));
  });
}

const urlText = text(urlCharactersMax);

/** Matches most URLs, which then skip further checks, to speed up bulk imports. */
const plainUrl = /^(?:https?:)?\/\/(?:[a-zA-Z\d]+(?:-[a-zA-Z\d]+)*\.)+[a-zA-Z]{2,63}(?:[/?#][!-{}~]*)?$/u;

function isPlainUrl(value: unknown): boolean {
  const isShort = typeof value === "string" && value.length <= urlCharactersMax;
  return isShort && plainUrl.test(value) && !value.includes("://", "https:".length);
}

function url(value: unknown, field: string, report: Report): void {
  if (!isPlainUrl(value)) checkUrl(value, field, report);
}

function checkUrl(value: unknown, field: string, report: Report): void {
  let valid = true;
  urlText(value, field, (...problem) => {
    valid = false;
    report(...problem);
  });
  if (valid && typeof value === "string" && !isWebUrl(value)) {
    report(field, "INVALID_VALUE", () => mustBe(field, "an http, https or protocol-relative URL", value));
  } else if (valid && severalUrls.test(String(value))) {
    report(field, "INVALID_VALUE", () => `${mustBe(field, `one URL, without spaces or "|"`, value)} ${severalImages}`);
  }
}

/** Separators between images of other systems. In a URL they are percent-encoded (RFC 3986, section 2). */
const severalUrls = /[\s|]|[,;]https?:\/\//iu;
const severalImages = "Several images are written as a JSON array of URLs.";

/**
 * URL.canParse of Node.js 20 fails for letters like "ö" once it is optimized. Percent-encoding them does not change the URL or its
 * host (https://url.spec.whatwg.org/#concept-host-parser).
 */
const beyondAscii = /\P{ASCII}+/gu;

/** http, https and protocol-relative URLs. Refuses control characters, because URL parsers drop them. */
function isWebUrl(value: string): boolean {
  // oxlint-disable-next-line no-control-regex -- it looks for control characters
  if (!/^(?:https?:)?\/\/[^\u0000-\u001f\u007f]+$/iu.test(value)) return false;
  const ascii = value.replace(beyondAscii, encodeURIComponent);
  return URL.canParse(ascii.startsWith("//") ? `https:${ascii}` : ascii);
}
