import type { IncomingHttpHeaders } from "node:http";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import * as fc from "fast-check";
import { afterAll } from "vitest";
import type { TestApp, TestStore } from "../app.js";
import { send } from "../call.js";

/** How many times as many inputs are tried as in an ordinary run: `npm run test:fuzz` sets it. */
const times = Number(process.env["FUZZ_RUNS"] ?? 1);
/** Whatever is sent must be answered within this time, on a busy machine too. */
const answerLimitMs = 60_000;

export const fuzzTimeoutMs = 300_000 * times;

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

export interface Fuzzer {
  /** Sends a call with a store's token and counts it. @throws when there is no answer in time, or it is not UTF-8 */
  send(app: TestApp, store: TestStore, call: Call): Promise<RawAnswer>;
  /** Counts inputs that do not go over HTTP. */
  count(inputs: number): void;
  /** Holds a property to `runs` inputs, or as many times more as FUZZ_RUNS says, or as many as time allows. A failure prints its seed. */
  hold<Input>(property: fc.IAsyncPropertyWithHooks<Input>, runs: number): Promise<void>;
}

/** For one test file, with a count that a long run prints at its end. */
export function createFuzzer(what: string): Fuzzer {
  let sent = 0;
  afterAll(() => {
    if (times > 1) process.stderr.write(`fuzz: ${sent} inputs tried: ${what}\n`);
  });
  return {
    send: async (app, store, call) => {
      sent += 1;
      return exchange(app.url, store.token, call);
    },
    count: (inputs) => void (sent += inputs),
    hold: (property, runs) =>
      fc.assert(property, { numRuns: runs * times, interruptAfterTimeLimit: fuzzTimeoutMs * 0.7 }),
  };
}

const inflate: Readonly<Record<string, (bytes: Buffer) => Buffer>> = { br: brotliDecompressSync, gzip: gunzipSync };

async function exchange(
  url: string,
  token: string,
  { method = "GET", path, headers = {}, body }: Call,
): Promise<RawAnswer> {
  const sentHeaders = {
    "x-service-access-token": token,
    ...(body !== undefined && { "content-length": String(Buffer.byteLength(body)) }),
    ...headers,
  };
  const signal = AbortSignal.timeout(answerLimitMs);
  const answer = await send(url, { path, method, headers: sentHeaders, body, signal });
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
