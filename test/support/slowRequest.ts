import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import type { TestStore } from "./app.js";

/** A request whose body is sent piece by piece. */
export interface SlowRequest {
  write(piece: string): void;
  /** Sends the last piece. */
  end(piece?: string): void;
  /** The answer, which may come before the end of the body. */
  readonly answer: Promise<{ readonly status: number | undefined; readonly body: any }>;
}

/** Begins a POST with a chunked body. */
export function beginPost(
  url: string,
  path: string,
  { token }: Pick<TestStore, "token">,
  type: string,
  headers: Readonly<Record<string, string>> = {},
): SlowRequest {
  const sent = request(`${url}${path}`, {
    method: "POST",
    headers: { "x-service-access-token": token, "content-type": type, ...headers },
  });
  sent.on("error", () => undefined); // the server may close before everything was sent
  sent.flushHeaders();
  const answer = (async () => {
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    return { status: response.statusCode, body: JSON.parse(await text(response)) };
  })();
  answer.catch(() => undefined);
  return { write: (piece) => void sent.write(piece), end: (piece) => void sent.end(piece), answer };
}
