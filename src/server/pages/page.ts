import type { ServerResponse } from "node:http";
import { createHash } from "node:crypto";
import { type Coding, compress, compressedLengthMin, preferredCoding } from "../content/compress.js";
import { entityTag, isKnown, addVary, send } from "../http/respond.js";

interface Kept {
  readonly body: Buffer;
  readonly security: Readonly<Record<string, string>>;
  readonly etag: string;
  readonly compressed: Partial<Record<Coding, Promise<Buffer | undefined>>>;
}

export const immutable = "public, max-age=31536000, immutable";

type Make = () => string | Buffer | Promise<string | Buffer>;

/** Isolates pages from other sites. Answers of the API do not have these headers. */
const isolation = {
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
};

/** For browsers that do not know frame-ancestors. */
const unframed = { "x-frame-options": "DENY" };

interface PageOptions {
  /** By default, browsers revalidate the page each time. */
  readonly cacheControl?: string;
  /** Makes the Content-Security-Policy of a page. */
  readonly policy?: (html: string) => string;
  /** Whether the policy lets pages of other sites show this page in a frame. */
  readonly isFramed?: boolean;
  /** In addition to those of every page. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Pages of at least this many bytes are compressed. */
  readonly compressedFrom?: number;
}

/**
 * Serves public content that does not change while the process runs. Makes, tags and compresses it once, at its first
 * request, because GraphiQL has 9 MB.
 */
export function createPage(
  mediaType: string,
  make: Make,
  {
    cacheControl = "no-cache",
    policy = contentSecurityPolicy,
    isFramed = false,
    headers: own = {},
    compressedFrom = compressedLengthMin,
  }: PageOptions = {},
): (exchange: { readonly response: ServerResponse }) => Promise<void> {
  let kept: Promise<Kept> | undefined;
  const keepOnce = () =>
    (kept ??= keep(make, mediaType, policy, isFramed).catch((error: unknown) => {
      kept = undefined; // the next request tries again
      throw error;
    }));
  return async ({ response }) => {
    const { body, etag, security, compressed: made } = await keepOnce();
    const { "if-none-match": known, "accept-encoding": accepted } = response.req.headers;
    const isLarge = body.length >= compressedFrom;
    const headers = { etag, "cache-control": cacheControl, ...security, ...own };
    if (isLarge) addVary(response, "Accept-Encoding");
    if (isKnown(known, etag)) return send(response, 304, headers);
    const coding = isLarge ? preferredCoding(accepted) : undefined;
    const compressed = coding && (await (made[coding] ??= compress(body, coding, true)));
    send(
      response,
      200,
      {
        "content-type": mediaType,
        ...(compressed !== undefined && { "content-encoding": coding }),
        "content-length": (compressed ?? body).length,
        ...headers,
      },
      compressed ?? body,
    );
  };
}

async function keep(make: Make, mediaType: string, policy: (html: string) => string, isFramed: boolean): Promise<Kept> {
  const body = Buffer.from(await make());
  const isHtml = mediaType.startsWith("text/html");
  const isolated = { ...isolation, ...(isFramed ? {} : unframed) };
  const security = isHtml ? { "content-security-policy": policy(body.toString()), ...isolated } : {};
  return { body, etag: entityTag(body), security, compressed: {} };
}

interface Html {
  readonly title: string;
  readonly style: string;
  /** Lines of the head that come before the style. */
  readonly head?: string;
  /** From the body element on. */
  readonly body: string;
}

/** A page in light and dark colors. */
export function htmlPage({ title, style, head = "", body }: Html): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="${icon}">
${head}<style>${style}</style>
${body}
</html>
`;
}

const drawing = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#5b3df5"/><path d="M7 13h18v11H7z" fill="#fff"/><path d="M6 8h20l2 5H4z" fill="#ffb84d"/><path d="M10 24v-7h5v7z" fill="#5b3df5"/></svg>`;

/** The href of `<link rel="icon">`. Without it, browsers request /favicon.ico. */
export const icon = `data:image/svg+xml,${encodeURIComponent(drawing)}`;

/**
 * Allows inline scripts by their hashes, files of this server if the page names some, calls to this server, and styles
 * that scripts create (https://www.w3.org/TR/CSP3/).
 */
function contentSecurityPolicy(html: string): string {
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
