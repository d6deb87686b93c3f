import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import type { TestStore } from "../app.js";

/** A request whose body is sent piece by piece. */
export interface SlowRequest {
  write(piece: string): void;
  /** Sends the last piece. */
  end(piece?: string): void;
  /** The answer, which may come before the end of the body. */
  readonly answer: Promise<{ readonly status: number | undefined; readonly body: any }>;
}

/** Begins a POST with a chunked body. Resolves once the server has its headers, and knows the token. */
export async function beginPost(url: string, path: string, store: TestStore, type: string): Promise<SlowRequest> {
  const sent = request(`${url}${path}`, {
    method: "POST",
    headers: { "x-service-access-token": store.token, "content-type": type, expect: "100-continue" },
  });
  sent.on("error", () => undefined); // the server may close before everything was sent
  const begun = once(sent, "continue");
  sent.flushHeaders();
  await begun;
  const known = await store.get("/external/product/v1/none"); // its token is looked up after that of the request, or with it
  if (known.status === 401) throw new Error("The token has ended already.");
  const answer = (async () => {
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    return { status: response.statusCode, body: JSON.parse(await text(response)) };
  })();
  answer.catch(() => undefined);
  return { write: (piece) => void sent.write(piece), end: (piece) => void sent.end(piece), answer };
}
