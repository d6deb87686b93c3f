import { AppError } from "../../../errors.js";
import { columnName } from "../layout.js";
import { urlCharactersMax } from "../../product/product.rules.js";

interface Placeholder {
  /** As written in the template. */
  readonly text: string;
  /** Its alternatives, as layouts name columns. */
  readonly names: readonly string[];
}

/** Made from the columns of a row. */
export interface UrlTemplate {
  readonly placeholders: readonly Placeholder[];
  /** The origin of relative paths. */
  readonly origin: string;
  /** Undefined if a placeholder has no value. */
  fill(valueOf: (name: string) => string): string | undefined;
}

/**
 * In `https://shop.example/{url_key|sku}` the first alternative with a value is used, URL-encoded.
 *
 * @throws {AppError} BAD_REQUEST for a template that makes no URLs
 */
export function compileTemplate(template: string): UrlTemplate {
  const parts = template.split(/\{([^{}]*)\}/u); // texts and placeholders alternate
  const texts = parts.filter((_, index) => index % 2 === 0);
  const placeholders = parts
    .filter((_, index) => index % 2 === 1)
    .map((text) => ({ text: text.toLowerCase(), names: text.split("|").map(columnName) }));
  if (texts.some((text) => /[{}]/u.test(text)) || placeholders.some(({ names }) => names.includes(""))) {
    throw invalid(template, "has a brace without its pair, or a placeholder without a name");
  }
  return {
    placeholders,
    origin: originOf(template, texts.join("x")),
    fill: (valueOf) => fill(texts, placeholders, valueOf),
  };
}

function originOf(template: string, example: string): string {
  if (!/^(?:https?:)?\/\//iu.test(example)) throw invalid(template, "does not start with https://");
  try {
    return new URL(example.startsWith("//") ? `https:${example}` : example).origin;
  } catch {
    throw invalid(template, "makes no valid URL");
  }
}

const valueMax = 2 * urlCharactersMax;

function fill(
  texts: readonly string[],
  placeholders: readonly Placeholder[],
  valueOf: (name: string) => string,
): string | undefined {
  let url = texts[0] ?? "";
  for (const [index, { names }] of placeholders.entries()) {
    const value = names.map(valueOf).find((found) => found !== "");
    if (value === undefined) return undefined;
    const part = value.slice(0, valueMax); // a URL with a longer value is refused all the same
    url += encodeURIComponent(part.toWellFormed()) + (texts[index + 1] ?? "");
  }
  return url;
}

function invalid(template: string, fault: string): AppError {
  return new AppError(
    "BAD_REQUEST",
    `The URL template ${JSON.stringify(template)} ${fault}. A template is written like https://shop.example/{sku}.`,
  );
}
