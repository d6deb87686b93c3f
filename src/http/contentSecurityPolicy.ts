import { createHash } from "node:crypto";

/**
 * The Content-Security-Policy (https://www.w3.org/TR/CSP3/) of a page that loads nothing from elsewhere: its own inline
 * scripts, known by their hash, and calls to this server. Styles may be made by scripts, as editors do it, and workers
 * from what the page holds.
 */
export function contentSecurityPolicy(html: string): string {
  const scripts = [...html.matchAll(/<script\b[^>]*>([^]*?)<\/script>/gu)].map(
    ([, script = ""]) => `'${sha256(script)}'`,
  );
  return [
    "default-src 'none'",
    `script-src ${scripts.length === 0 ? "'none'" : scripts.join(" ")}`,
    "style-src 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src data:",
    "worker-src blob:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

function sha256(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}
