import { createHash } from "node:crypto";

/**
 * https://www.w3.org/TR/CSP3/: inline scripts by their hashes, files of this server if the page names some, calls to
 * this server, and styles that scripts make.
 */
export function contentSecurityPolicy(html: string): string {
  const tags = scriptsOf(html);
  const hashes = tags.filter(({ attributes }) => !isFile(attributes)).map(({ script }) => sha256(script));
  const files = tags.some(({ attributes }) => isFile(attributes)) ? ["'self'"] : [];
  return [
    "default-src 'none'",
    ["script-src", ...(tags.length === 0 ? ["'none'"] : [...files, ...hashes])],
    ["style-src", ...files, "'unsafe-inline'"],
    "img-src 'self' data:",
    ["font-src", ...files, "data:"],
    ["worker-src", ...(files.length === 0 ? ["'none'"] : files)],
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ]
    .map((rule) => (typeof rule === "string" ? rule : rule.join(" ")))
    .join("; ");
}

function scriptsOf(html: string): { readonly attributes: string; readonly script: string }[] {
  const [, ...tags] = html.split("<script");
  return tags.map((tag) => {
    const [text = ""] = tag.split("</script>", 1);
    const attributesEnd = text.indexOf(">");
    return { attributes: text.slice(0, attributesEnd), script: text.slice(attributesEnd + 1) };
  });
}

function isFile(attributes: string): boolean {
  return /\ssrc=/u.test(attributes);
}

function sha256(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}
