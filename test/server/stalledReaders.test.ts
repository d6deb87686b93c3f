import { EventEmitter } from "node:events";
import type { Server } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { cutStalledReaders, type Exchanges } from "../../src/server/server.js";
import { stopTimers } from "../support/clock.js";

// Whether a client that has read everything later gets a timeout depends on the system's buffers, so the event is emitted here.
test.each([
  ["has everything, while its request runs", { writableLength: 0, isRunning: true }, false],
  ["has everything, without a request", { writableLength: 0, isRunning: false }, true],
  ["reads nothing, while its request runs", { writableLength: 1, isRunning: true }, true],
])("of a silent client that %s, the connection is closed: %j %s", (_, { writableLength, isRunning }, isCut) => {
  const server = new EventEmitter();
  onTestFinished(() => void server.emit("close"));
  const exchanges = { isRunning: () => isRunning } as unknown as Exchanges;
  cutStalledReaders(server as Server, exchanges, { stalledTimeoutMs: 60_000, checkIntervalMs: 60_000 });
  let isDestroyed = false;
  server.emit("timeout", { writableLength, destroy: () => (isDestroyed = true) });
  expect(isDestroyed).toBe(isCut);
});

test("only what waits to be sent has a time limit: that of the last byte which is sent, and not of the first", async () => {
  const timers = stopTimers();
  const server = new EventEmitter();
  onTestFinished(() => void server.emit("close"));
  const exchanges = { isRunning: () => true } as unknown as Exchanges;
  cutStalledReaders(server as Server, exchanges, { stalledTimeoutMs: 60_000, checkIntervalMs: 5_000 });
  const sockets = [0, 1].map((writableLength) => {
    const limits: number[] = [];
    const setTimeout = (ms: number) => void limits.push((socket.timeout = ms));
    const socket = Object.assign(new EventEmitter(), { writableLength, limits, timeout: 0, setTimeout });
    server.emit("connection", socket);
    return socket;
  });
  await timers.run(30_000);
  // Node.js counts it anew whenever something is sent.
  expect(sockets.map(({ limits }) => limits)).toEqual([[], [60_000]]);
});
