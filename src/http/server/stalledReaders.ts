import type { Server } from "node:http";
import type { Socket } from "node:net";
import type { Exchanges } from "./exchanges.js";

interface Options {
  readonly stalledTimeoutMs: number;
  readonly checkIntervalMs: number;
}

/**
 * Answers and streams that clients do not read would be kept in memory for ever. Only connections with unsent bytes get
 * a timeout: server.timeout costs each request, and Yoga removes it from streams.
 */
export function cutStalledReaders(server: Server, exchanges: Exchanges, options: Options): void {
  const { stalledTimeoutMs, checkIntervalMs } = options;
  const connections = new Set<Socket>();
  server.on("timeout", (socket) => {
    // A client that has received everything may be silent while its answer or the next event is made.
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
