import { Agent, request } from "node:http";

/** A request of an attack, made before it is needed. */
export interface Sent {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly body?: Buffer;
  /** The length of the body before compression. It is sent compressed where this is given. */
  readonly gzipOf?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** The caller goes away after this time. */
  readonly leavesAfterMs?: number;
}

export interface Answer {
  readonly status: number;
  /** From when the last byte was sent until the answer was complete; 0 where it was complete earlier. */
  readonly afterMs: number;
  readonly bytes: number;
  /** The beginning of the body. */
  readonly text: string;
  readonly hasRetryAfter: boolean;
  /** Bytes of the body, inflated. */
  readonly sentBytes: number;
}

const agent = new Agent({ keepAlive: true });
const keptBytes = 65_536;

/** Any status is an answer. @throws {Error} where there is none, and where the signal ends the wait */
export function send(
  { url, token }: { readonly url: string; readonly token: string },
  sent: Sent,
  signal: AbortSignal,
): Promise<Answer> {
  const leaving =
    sent.leavesAfterMs === undefined ? signal : AbortSignal.any([signal, AbortSignal.timeout(sent.leavesAfterMs)]);
  const headers = {
    "x-service-access-token": token,
    "content-type": "application/json",
    ...(sent.body === undefined ? {} : { "content-length": sent.body.byteLength }),
    ...(sent.gzipOf === undefined ? {} : { "content-encoding": "gzip" }),
    ...sent.headers,
  };
  return new Promise((resolve, reject) => {
    let sentAt: number | undefined;
    const call = request(`${url}${sent.path}`, { agent, method: sent.method, headers, signal: leaving }, (response) => {
      let bytes = 0;
      let text = "";
      response.on("data", (part: Buffer) => {
        bytes += part.byteLength;
        if (text.length < keptBytes) text += part.toString("utf8");
      });
      response.once("error", reject);
      response.once("end", () => {
        resolve({
          status: response.statusCode ?? 0,
          afterMs: sentAt === undefined ? 0 : performance.now() - sentAt,
          bytes,
          text,
          hasRetryAfter: response.headers["retry-after"] !== undefined,
          sentBytes: sent.gzipOf ?? sent.body?.byteLength ?? 0,
        });
        if (sentAt === undefined) call.destroy(); // the rest need not be sent
      });
    });
    call.once("finish", () => (sentAt = performance.now()));
    call.once("error", reject);
    call.end(sent.body);
  });
}
