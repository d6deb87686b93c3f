import type { Server } from "node:http";
import type { Socket } from "node:net";
import type { Exchanges } from "./exchanges.js";

interface Options {
  /** How long a client may take in nothing of what waits to be sent to it, in milliseconds. */
  readonly stalledTimeoutMs: number;
  /** How often connections are looked at. */
  readonly checkIntervalMs: number;
}

/**
 * Cuts off clients that do not read what they asked for: an answer, or a stream, would be kept for them for ever. Only those
 * for whom something waits get a timeout, so that others cost nothing: server.timeout would be set for each request, and
 * is taken away from streams by Yoga.
 */
export function cutStalledReaders(server: Server, exchanges: Exchanges, options: Options): void {
  const { stalledTimeoutMs, checkIntervalMs } = options;
  const connections = new Set<Socket>();
  server.on("timeout", (socket) => {
    // Silence is no fault once all was taken in, while an answer is worked on or a stream has nothing to say.
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
