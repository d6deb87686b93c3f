import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { handleClientErrors } from "./clientError.js";
import { Exchanges } from "./exchanges.js";
import { cutStalledReaders } from "./stalledReaders.js";

/** A server that listens. */
export interface RunningServer {
  /** `http://127.0.0.1:4000`, with the port that was really taken. */
  readonly url: string;
  /** Takes no new connections, lets running requests end for at most `graceMs`, then cuts what is left. */
  stop(graceMs: number): Promise<void>;
}

/** How long clients may take, in milliseconds. What takes longer is cut off, with a 408 where an answer can be given. */
export interface ServerTimeouts {
  /** For a request's line and headers, and for the first byte on a new connection. */
  readonly headersTimeoutMs?: number;
  /** For a whole request: large bodies get the time that a slow uplink needs. */
  readonly requestTimeoutMs: number;
  /** Between two requests: longer than the idle timeout of load balancers, which is a minute with most. */
  readonly keepAliveTimeoutMs: number;
  /** Without taking in anything of an answer that waits to be sent. */
  readonly stalledTimeoutMs?: number;
  /** How often this is looked at: a client is cut off so much later at most. */
  readonly checkIntervalMs?: number;
}

interface ListenOptions extends ServerTimeouts {
  readonly host: string;
  readonly port: number;
  /** How many connections may be open at once: more are closed as they come. */
  readonly connectionsMax: number;
}

const headerBytesMax = 32_768;

/** Starts listening. Rejects when the address cannot be had. */
export async function listen(handler: RequestListener, options: ListenOptions): Promise<RunningServer> {
  const { host, port } = options;
  const server = createHttpServer(handler, options);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port }, resolve);
  });
  const address = server.address() as AddressInfo; // it listens on a port, not on a path
  const hostName = address.family === "IPv6" ? `[${address.address}]` : address.address;
  return { url: `http://${hostName}:${address.port}`, stop: (graceMs) => stop(server, graceMs) };
}

function createHttpServer(
  handler: RequestListener,
  {
    headersTimeoutMs = 20_000,
    requestTimeoutMs,
    keepAliveTimeoutMs,
    stalledTimeoutMs = 60_000,
    checkIntervalMs = 5_000,
    connectionsMax,
  }: ListenOptions,
): Server {
  const exchanges = new Exchanges();
  const listener: RequestListener = (request, response) => {
    exchanges.begin(request.socket, response);
    handler(request, response);
  };
  const server = createServer(
    {
      headersTimeout: Math.min(headersTimeoutMs, requestTimeoutMs),
      requestTimeout: requestTimeoutMs,
      keepAliveTimeout: keepAliveTimeoutMs,
      connectionsCheckingInterval: checkIntervalMs,
      maxHeaderSize: headerBytesMax,
      requireHostHeader: false, // the router asks for it, and answers in the form of all refusals
    },
    listener,
  );
  limitConnections(server, connectionsMax);
  // A body is asked for when it is about to be read, so not at all where the headers alone lead to a refusal.
  server.on("checkContinue", (request, response) => {
    request.once("resume", () => {
      if (!response.headersSent) response.writeContinue();
    });
    listener(request, response);
  });
  server.on("checkExpectation", listener); // RFC 9110, section 10.1.1: what is not known may be ignored
  handleClientErrors(server, exchanges);
  cutStalledReaders(server, exchanges, { stalledTimeoutMs, checkIntervalMs });
  return server;
}

/** Node's own maxConnections makes worker processes hand a connection to and fro for as long as all of them have enough. */
function limitConnections(server: Server, connectionsMax: number): void {
  let open = 0;
  server.prependListener("connection", (socket: Socket) => {
    open += 1;
    socket.once("close", () => (open -= 1));
    if (open > connectionsMax) socket.destroy();
  });
}

async function stop(server: Server, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  // Connections become idle one by one as their requests end, and would be kept alive for the next one.
  const sweep = setInterval(() => server.closeIdleConnections(), 50);
  const timer = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearInterval(sweep);
  clearTimeout(timer);
}
