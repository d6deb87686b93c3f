import { type IncomingHttpHeaders, request } from "node:http";
import { buffer } from "node:stream/consumers";
import { brotliDecompressSync, gunzipSync } from "node:zlib";

/** An answer as it came over the wire: nothing is decompressed, and nothing revalidated behind the test's back. */
export interface WireAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
}

interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whole, with its length in Content-Length, or in parts, each sent by itself. */
  readonly body?: string | readonly (string | Buffer)[];
  /** Never to end the body: the server must answer without it. */
  readonly unfinished?: boolean;
}

/** Calls a path on a connection of its own, where fetch would tidy up what is sent. The path goes out as it is. */
export async function receive(
  url: string,
  path: string,
  { method = "GET", headers = {}, body = "", unfinished = false }: Sent = {},
): Promise<WireAnswer> {
  const outgoing = request(url, { path, method, headers, agent: false });
  const answered = new Promise<WireAnswer>((resolve, reject) => {
    outgoing.once("error", reject);
    outgoing.once("response", (incoming) => {
      const { statusCode: status = 0, headers: received } = incoming;
      buffer(incoming).then((bytes) => resolve({ status, headers: received, bytes }), reject);
    });
  });
  const [parts, whole] = typeof body === "string" ? [[], body] : [body, undefined];
  if (unfinished) outgoing.flushHeaders();
  for (const part of parts) outgoing.write(part);
  if (!unfinished) outgoing.end(whole);
  try {
    return await answered;
  } finally {
    outgoing.destroy();
  }
}

/** The text of an answer, decompressed as its Content-Encoding says. */
export function textOf({ headers, bytes }: WireAnswer): string {
  switch (headers["content-encoding"]) {
    case undefined:
      return bytes.toString();
    case "br":
      return brotliDecompressSync(bytes).toString();
    case "gzip":
      return gunzipSync(bytes).toString();
    default:
      throw new Error(`No coding that was asked for: ${headers["content-encoding"]}`);
  }
}

/** The names in an answer's Vary, in lower case. */
export function variesBy({ headers }: WireAnswer): string[] {
  return (headers.vary ?? "").toLowerCase().split(/,\s*/u).filter(Boolean).toSorted();
}
