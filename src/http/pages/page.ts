import type { ServerResponse } from "node:http";
import { type Coding, compress, compressedLengthMin, preferredCoding } from "../content/compress.js";
import { contentSecurityPolicy } from "./contentSecurityPolicy.js";
import { entityTag, isKnown } from "../content/entityTag.js";
import { addVary, send } from "../respond.js";

interface Kept {
  readonly body: Buffer;
  readonly security: Readonly<Record<string, string>>;
  readonly etag: string;
  readonly compressed: Partial<Record<Coding, Promise<Buffer | undefined>>>;
}

/** Cache-Control of a file whose path changes when its content does. */
export const immutable = "public, max-age=31536000, immutable";

type Make = () => string | Buffer | Promise<string | Buffer>;

/** Keeps pages apart from those of other sites, and from what they do not need. Calls to the API are none of its business. */
const isolation = {
  "referrer-policy": "no-referrer",
  "x-frame-options": "DENY", // for browsers that do not know frame-ancestors
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
};

/**
 * Answers GET and HEAD with something that never changes while the process runs, open to everybody. It is made, tagged
 * and compressed when it is first asked for, each once, so that it costs the start nothing: GraphiQL has 9 MB.
 *
 * @param cacheControl by default browsers ask each time whether it is still the same
 * @param policy makes the Content-Security-Policy of a page
 */
export function createPage(
  mediaType: string,
  make: Make,
  cacheControl = "no-cache",
  policy: (html: string) => string = contentSecurityPolicy,
): (exchange: { readonly response: ServerResponse }) => Promise<void> {
  let kept: Promise<Kept> | undefined;
  const keepOnce = () =>
    (kept ??= keep(make, mediaType, policy).catch((error: unknown) => {
      kept = undefined; // what could not be made now may be made next time
      throw error;
    }));
  return async ({ response }) => {
    const { body, etag, security, compressed: made } = await keepOnce();
    const { "if-none-match": known, "accept-encoding": accepted } = response.req.headers;
    const isLarge = body.length >= compressedLengthMin;
    const headers = { etag, "cache-control": cacheControl, ...security };
    if (isLarge) addVary(response, "Accept-Encoding");
    if (isKnown(known, etag)) return send(response, 304, headers);
    const coding = isLarge ? preferredCoding(accepted) : undefined;
    const compressed = coding && (await (made[coding] ??= compress(body, coding)));
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

async function keep(make: Make, mediaType: string, policy: (html: string) => string): Promise<Kept> {
  const body = Buffer.from(await make());
  const isHtml = mediaType.startsWith("text/html");
  const security = isHtml ? { "content-security-policy": policy(body.toString()), ...isolation } : {};
  return { body, etag: entityTag(body), security, compressed: {} };
}

const drawing = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#5b3df5"/><path d="M7 13h18v11H7z" fill="#fff"/><path d="M6 8h20l2 5H4z" fill="#ffb84d"/><path d="M10 24v-7h5v7z" fill="#5b3df5"/></svg>`;

/** The icon of every page, a shop window, for `<link rel="icon" href="…">`: browsers would else ask for /favicon.ico. */
export const icon = `data:image/svg+xml,${encodeURIComponent(drawing)}`;
