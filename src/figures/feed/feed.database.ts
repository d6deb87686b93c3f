import { connect, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import type { Config } from "../../config.js";
import type { OpenDatabase } from "../../database/open.js";
import { createPostgresRelay } from "./feed.postgres.js";
import { type FeedRelay, parseChange } from "./feed.relay.js";
import { changesSocketName } from "../../database/embedded/embeddedEngine.js";
import { withTimeout } from "../../lib/timers.js";

/** Relays changes between processes that share only their database. @param log called once for each outage */
export function createDatabaseRelay(
  { engine, connection }: Pick<OpenDatabase, "engine" | "connection">,
  { databaseNamedStatements }: Pick<Config, "databaseNamedStatements">,
  log: (problem: Error) => void,
): FeedRelay {
  if (engine.kind !== "embedded") return createPostgresRelay(connection, { listens: databaseNamedStatements, log });
  const { socketFolder, isOwn } = engine;
  return isOwn ? createSocketReceiver(socketFolder, log) : createSocketSender(socketFolder);
}

const connectionsMax = 64;

const lineMax = 10_000;

const closeTimeoutMs = 1_000;

/** Receives changes from commands over a private socket: PGlite delivers notifications only to their sender. */
function createSocketReceiver(socketFolder: string, log: (problem: Error) => void): FeedRelay {
  const sockets = new Set<Socket>();
  let server: Server | undefined;
  return {
    send: () => undefined,
    subscribe(onChange) {
      server = createServer((socket) => {
        sockets.add(socket);
        socket.once("close", () => sockets.delete(socket));
        readLines(socket, (line) => {
          const change = parseChange(line);
          if (change !== undefined) onChange(change[1], change[2]);
        });
      });
      server.maxConnections = connectionsMax;
      server.once("error", log);
      server.listen(join(socketFolder, changesSocketName)).unref();
    },
    async close() {
      server?.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** The commands' end. Without a server there is nothing to notify. */
function createSocketSender(socketFolder: string): FeedRelay {
  const socket = connect(join(socketFolder, changesSocketName)).unref();
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  socket.on("error", () => undefined);
  return {
    send(storeId, lsId) {
      if (!socket.destroyed) socket.write(`${JSON.stringify(["", storeId, lsId])}\n`);
    },
    subscribe: () => undefined,
    async close() {
      socket.ref().end();
      await withTimeout(closed, closeTimeoutMs, "The server").catch(() => socket.destroy());
    },
  };
}

function readLines(socket: Socket, onLine: (line: string) => void): void {
  let text = "";
  socket.setEncoding("utf8");
  socket.on("error", () => undefined);
  socket.on("data", (part: string) => {
    const lines = (text + part).split("\n");
    text = lines.pop() ?? "";
    lines.forEach(onLine);
    if (text.length > lineMax) socket.destroy();
  });
}
