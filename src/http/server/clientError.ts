import { type Server, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { AppError } from "../../errors.js";
import { allowedMethods } from "../cors.js";
import { MethodNotAllowedError } from "../../rest/handler.js";
import { problemOf } from "../sendError.js";
import type { Exchanges } from "./exchanges.js";
import { problemMediaType } from "../../rest/problemDetails.js";

/** How long a refused client may take to close its side. */
const lingerMs = 1_000;

/** Answers requests that node:http cannot parse, or that time out, with problem details, and closes the connection. */
export function handleClientErrors(server: Server, exchanges: Exchanges): void {
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    if (socket.writableEnded) return; // refused already; the rest is dropped
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

/** The client gets time to read the answer: closing immediately may reset the connection before. */
function close(socket: Duplex): void {
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once("close", () => clearTimeout(timer)).once("error", () => socket.destroy());
  socket.end();
  socket.resume();
}
