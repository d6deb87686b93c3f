import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { noteConnection } from "../../lib/streams/eventLoop.js";
import { handleClientErrors } from "./clientError.js";
import { Exchanges } from "./exchanges.js";
import { cutStalledReaders } from "./stalledReaders.js";

export interface RunningServer {
  /** `http://127.0.0.1:4000`, with the actual port. */
  readonly url: string;
  /** Accepts no new connections, lets requests finish for at most `graceMs`, then closes the rest. */
  stop(graceMs: number): Promise<void>;
}

/** Milliseconds until clients are disconnected, with a 408 if possible. */
export interface ServerTimeouts {
  /** The time limit of a request's line and headers, counted from a new connection's start. */
  readonly headersTimeoutMs?: number;
  /** The time limit of a whole request: long enough for large bodies on slow uplinks. */
  readonly requestTimeoutMs: number;
  /** The idle time between two requests: longer than the idle timeout of load balancers, usually a minute. */
  readonly keepAliveTimeoutMs: number;
  /** How long a client may receive no byte of a response that waits to be sent. */
  readonly stalledTimeoutMs?: number;
  readonly checkIntervalMs?: number;
}

interface ListenOptions extends ServerTimeouts {
  readonly host: string;
  readonly port: number;
  /** Further ones are closed immediately. */
  readonly connectionsMax: number;
}

const headerBytesMax = 32_768;

/** Rejects if the address is not available. */
export async function listen(handler: RequestListener, options: ListenOptions): Promise<RunningServer> {
  const { host, port } = options;
  const server = createHttpServer(handler, options);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port }, resolve);
  });
  const address = server.address() as AddressInfo; // it listens on a port
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
      requireHostHeader: false, // the router checks it and answers with problem details
    },
    listener,
  );
  limitConnections(server, connectionsMax);
  // 100 Continue is sent when the body is read, so not for requests that are refused by their headers.
  server.on("checkContinue", (request, response) => {
    request.once("resume", () => {
      if (!response.headersSent) response.writeContinue();
    });
    listener(request, response);
  });
  server.on("checkExpectation", listener); // RFC 9110, section 10.1.1: unknown ones may be ignored
  handleClientErrors(server, exchanges);
  cutStalledReaders(server, exchanges, { stalledTimeoutMs, checkIntervalMs });
  return server;
}

/** With Node's own maxConnections, worker processes that are full pass a connection back and forth. */
function limitConnections(server: Server, connectionsMax: number): void {
  let open = 0;
  server.prependListener("connection", (socket: Socket) => {
    noteConnection();
    open += 1;
    socket.once("close", () => (open -= 1));
    if (open > connectionsMax) socket.destroy();
  });
}

async function stop(server: Server, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  // Connections that become idle later would be kept alive.
  const sweep = setInterval(() => server.closeIdleConnections(), 50);
  const timer = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearInterval(sweep);
  clearTimeout(timer);
}
