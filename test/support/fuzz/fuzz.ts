import type { IncomingHttpHeaders } from "node:http";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import type { TestApp, TestStore } from "../app.js";
import { send } from "../call.js";

/** What is sent. The path goes out as it is. */
interface Call {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer | string;
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Undefined where there is none. */
  readonly text: string | undefined;
}

const inflate: Readonly<Record<string, (bytes: Buffer) => Buffer>> = { br: brotliDecompressSync, gzip: gunzipSync };

/** Sends a call with a store's token. @throws when the answer is not UTF-8 */
export async function sendRaw(
  { url }: Pick<TestApp, "url">,
  { token }: Pick<TestStore, "token">,
  { method = "GET", path, headers = {}, body }: Call,
): Promise<RawAnswer> {
  const sentHeaders = {
    "x-service-access-token": token,
    ...(body !== undefined && { "content-length": String(Buffer.byteLength(body)) }),
    ...headers,
  };
  const answer = await send(url, { path, method, headers: sentHeaders, body });
  return { status: answer.status, headers: answer.headers, text: textOf(answer.headers, answer.bytes) };
}

function textOf(headers: IncomingHttpHeaders, bytes: Buffer): string | undefined {
  if (bytes.length === 0) return undefined;
  const plain = inflate[headers["content-encoding"] ?? ""]?.(bytes) ?? bytes;
  return new TextDecoder("utf-8", { fatal: true }).decode(plain);
}

/** What must be empty after everything that a test sent: failures that were logged, members that every object has got. */
export function harmDone({ logged }: Pick<TestApp, "logged">): readonly string[] {
  const failures = logged.filter((line) => Number(JSON.parse(line).level) >= 40);
  const inherited: string[] = [];
  for (const prototype of [Object.prototype, Array.prototype, Function.prototype]) {
    for (const name in prototype) inherited.push(name);
  }
  return [...failures, ...inherited];
}
