import type { IncomingMessage, ServerResponse } from "node:http";

type Headers = Readonly<Record<string, string>>;

/** How long the rest of a body that nobody wants is taken in. */
const lingerMs = 5_000;

/** Writes a whole answer at once, with its length. A HEAD request gets the headers alone; node:http sees to that. */
export function respond(
  response: ServerResponse,
  status: number,
  mediaType: string,
  body: string,
  headers: Headers = {},
): void {
  const early = isArriving(response.req);
  response.writeHead(status, {
    "content-type": mediaType,
    "content-length": Buffer.byteLength(body),
    ...(early && { connection: "close" }),
    ...headers,
  });
  if (!early) return void response.end(body);
  response.write(body);
  endAfterBody(response);
}

export function respondJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  mediaType = "application/json; charset=utf-8",
  headers?: Headers,
): void {
  respond(response, status, mediaType, JSON.stringify(body), headers);
}

function isArriving({ complete, headers }: IncomingMessage): boolean {
  return !complete && (headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0);
}

/** Closing a connection on which a body still arrives resets it, and the client may lose the answer: drop the rest first. */
function endAfterBody(response: ServerResponse): void {
  const { req: request } = response;
  const timer = setTimeout(end, lingerMs);
  function end(): void {
    clearTimeout(timer);
    response.end();
  }
  request.once("end", end).once("close", end).resume();
}
