import { createServer, type RequestListener, type Server, type ServerResponse, STATUS_CODES } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { noteConnection } from "../lib/streams/eventLoop.js";
import { AppError } from "../errors.js";
import { allowedMethods } from "./http/exchange.js";
import { MethodNotAllowedError } from "../api/rest/handler.js";
import { problemOf } from "./http/sendError.js";
import { problemMediaType } from "../api/rest/problemDetails.js";

export interface RunningServer {
  /** `http://127.0.0.1:4000`, with the actual port. */
  readonly url: string;
  /** Accepts no new connections, lets requests finish for at most `graceMs`, then closes the rest. */
  stop(graceMs: number): Promise<void>;
}

/** Milliseconds until clients are disconnected, with a 408 if possible. */
export interface ServerTimeouts {
  /** For a request's line and headers; for the first request, counted from the start of its connection. */
  readonly headersTimeoutMs?: number;
  /** For a whole request: long enough for large bodies on slow uplinks. */
  readonly requestTimeoutMs: number;
  /** Between two requests: longer than the idle timeout of load balancers, which is usually a minute. */
  readonly keepAliveTimeoutMs: number;
  /** How long a client may take no byte of a response that waits to be sent. */
  readonly stalledTimeoutMs?: number;
  readonly checkIntervalMs?: number;
}

interface ListenOptions extends ServerTimeouts {
  readonly host: string;
  readonly port: number;
  /** Further connections are closed immediately. */
  readonly connectionsMax: number;
}

const headerBytesMax = 32_768;

/** Starts to listen. Rejects if the address is not available. */
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
  // Send 100 Continue only when the body is read, because requests may be refused by their headers.
  server.on("checkContinue", (request, response) => {
    request.once("resume", () => {
      if (!response.headersSent) response.writeContinue();
    });
    listener(request, response);
  });
  server.on("checkExpectation", listener); // unknown expectations may be ignored (RFC 9110, section 10.1.1)
  handleClientErrors(server, exchanges);
  cutStalledReaders(server, exchanges, { stalledTimeoutMs, checkIntervalMs });
  return server;
}

/** With Node's own maxConnections, full worker processes would pass a connection back and forth. */
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
  // Without this, connections that become idle later would stay open.
  const sweep = setInterval(() => server.closeIdleConnections(), 50);
  const timer = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearInterval(sweep);
  clearTimeout(timer);
}

/** Knows the latest request of each connection, because answers are sent in the order of requests. */
export class Exchanges {
  readonly #latest = new WeakMap<Duplex, ServerResponse>();

  begin(socket: Duplex, response: ServerResponse): void {
    this.#latest.set(socket, response);
  }

  isRunning(socket: Duplex): boolean {
    return this.#latest.get(socket)?.writableFinished === false;
  }

  /** If not, the client would take an answer that is written now for that to another request. */
  isNextToAnswer(socket: Duplex): boolean {
    const response = this.#latest.get(socket);
    if (response === undefined) return true;
    if (response.writableFinished) return response.shouldKeepAlive; // if not, it was the last answer
    return response.socket !== null && !response.headersSent && !response.req.complete;
  }
}

interface Options {
  readonly stalledTimeoutMs: number;
  readonly checkIntervalMs: number;
}

/**
 * Disconnects clients that do not read their answers or streams, which would stay in memory forever. Only connections
 * with unsent bytes get a timeout, because server.timeout costs time for each request, and Yoga removes it from streams.
 */
export function cutStalledReaders(server: Server, exchanges: Exchanges, options: Options): void {
  const { stalledTimeoutMs, checkIntervalMs } = options;
  const connections = new Set<Socket>();
  server.on("timeout", (socket) => {
    // If everything is sent, the client may be waiting for an answer or an event that we are still making.
    if (socket.writableLength > 0 || !exchanges.isRunning(socket)) socket.destroy();
  });
  server.on("connection", (socket: Socket) => {
    connections.add(socket);
    socket.once("close", () => connections.delete(socket));
  });
  const timer = setInterval(() => {
    for (const socket of connections) {
      if (socket.writableLength > 0 && !socket.timeout) socket.setTimeout(stalledTimeoutMs);
    }
  }, checkIntervalMs);
  timer.unref();
  server.once("close", () => clearInterval(timer));
}

/** How long a refused client may take to close its side. */
const lingerMs = 1_000;

/** Answers requests that node:http cannot parse, or that time out, with problem details, and closes the connection. */
function handleClientErrors(server: Server, exchanges: Exchanges): void {
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    if (socket.writableEnded) return; // refused already: drop the rest
    if (!socket.writable || error.code === "ECONNRESET") socket.destroy();
    else if (exchanges.isNextToAnswer(socket)) refuse(socket, refusalOf(error));
    else close(socket);
  });
  server.on("connect", (_, socket) => refuse(socket, new MethodNotAllowedError(allowedMethods.split(", "))));
}

function refusalOf({ code }: NodeJS.ErrnoException): AppError {
  switch (code) {
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return new AppError("REQUEST_TIMEOUT", "The request took too long to arrive.");
    case "HPE_HEADER_OVERFLOW":
      return new AppError("HEADERS_TOO_LARGE", "The headers of the request are too large.");
    default:
      return new AppError("BAD_REQUEST", "This is not a valid HTTP/1.1 request.");
  }
}

function refuse(socket: Duplex, error: AppError): void {
  const problem = problemOf(error);
  const body = JSON.stringify(problem);
  const lines = [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`,
    `Content-Type: ${problemMediaType}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    "X-Content-Type-Options: nosniff",
    ...(error instanceof MethodNotAllowedError ? [`Allow: ${error.allowed.join(", ")}`] : []),
    `Date: ${new Date().toUTCString()}`,
    "Connection: close",
  ];
  socket.write(`${lines.join("\r\n")}\r\n\r\n${body}`);
  close(socket);
}

/** Gives the client time to read the answer, because closing immediately may reset the connection first. */
function close(socket: Duplex): void {
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once("close", () => clearTimeout(timer)).once("error", () => socket.destroy());
  socket.end();
  socket.resume();
}
