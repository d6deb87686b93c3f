import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/** A server that listens. */
export interface RunningServer {
  /** `http://127.0.0.1:4000`, with the port that was really taken. */
  readonly url: string;
  /** Takes no new connections, lets running requests end for at most `graceMs`, then cuts what is left. */
  stop(graceMs: number): Promise<void>;
}

/** Starts listening. Rejects when the address cannot be had. */
export async function listen(
  handler: RequestListener,
  { host, port }: { host: string; port: number },
): Promise<RunningServer> {
  const server = createServer(
    // A slow client may hold a connection no longer than this; large bodies get the time a slow uplink needs.
    { headersTimeout: 20_000, requestTimeout: 300_000, keepAliveTimeout: 65_000, maxHeaderSize: 32_768 },
    handler,
  );
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port }, resolve);
  });
  const address = server.address() as AddressInfo; // it listens on a port, not on a path
  const hostName = address.family === "IPv6" ? `[${address.address}]` : address.address;
  return { url: `http://${hostName}:${address.port}`, stop: (graceMs) => stop(server, graceMs) };
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
