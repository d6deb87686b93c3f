import { connect, type Socket } from "node:net";
import { showSubscription } from "../../src/dashboard/queries/show.js";

/** For messages. */
const keptCharacters = 1_000;

interface Server {
  readonly url: string;
  readonly token: string;
}

type Variables = Parameters<NonNullable<(typeof showSubscription)["__apiType"]>>[0];

/** Ends a stream: here after errors alone, since the shows go on. */
export const streamEnd = "event: complete";

/** The body of a dashboard's subscription, as its page sends it. */
export function dashboard(lsId: string, from: Date): string {
  const variables: Variables = {
    lsId,
    bucketSeconds: 60,
    from: from.toISOString(),
    until: null,
    startMinute: from.toISOString(),
    by: "CARTS",
    withCatalog: true,
  };
  return JSON.stringify({ query: String(showSubscription), variables });
}

/** Subscribes on a connection whose bytes the caller reads as they are: a client of thousands has no time to parse them. */
export function subscribe({ url, token }: Server, body: string): Socket {
  const { hostname, port, host } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.write(
    [
      "POST /graphql HTTP/1.1",
      `Host: ${host}`,
      `X-Service-Access-Token: ${token}`,
      "Content-Type: application/json",
      "Accept: text/event-stream",
      `Content-Length: ${Buffer.byteLength(body)}`,
      "",
      body,
    ].join("\r\n"),
  );
  return socket;
}

/** Reads a subscription until the signal says so. @throws {Error} where it ends before, or nothing comes */
export function follow(server: Server, body: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = subscribe(server, body);
    const leave = () => socket.destroy();
    signal.addEventListener("abort", leave, { once: true });
    if (signal.aborted) leave();
    let beginning = "";
    socket.on("data", (part: Buffer) => {
      if (beginning.length < keptCharacters) beginning += part.toString("latin1", 0, keptCharacters);
      if (part.includes(streamEnd)) socket.destroy();
    });
    socket.once("error", reject);
    socket.once("close", () => {
      signal.removeEventListener("abort", leave);
      if (signal.aborted && beginning !== "") resolve();
      else
        reject(new Error(beginning === "" ? "nothing came to a subscription" : `a subscription ended: ${beginning}`));
    });
  });
}
