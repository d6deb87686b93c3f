import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { randomInt } from "node:crypto";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { Redis } from "ioredis";
import { onTestFinished } from "vitest";
import { until } from "../until.js";

/**
 * Stands in for a Redis until the test ends. `drop` ends its connections.
 *
 * @param reply to a command, by its name in lower case; "" for none
 */
export async function serveAsRedis(reply: (command: string) => string) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on("error", () => undefined));
    socket.on("data", (commands) => {
      for (const [, name = ""] of commands.toString().matchAll(/^\*\d+\r\n\$\d+\r\n(\w+)\r$/gmu)) {
        socket.write(reply(name.toLowerCase()));
      }
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const drop = () => sockets.forEach((socket) => socket.destroy());
  onTestFinished(() => {
    drop();
    server.close();
  });
  return { url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`, drop };
}

/** A Redis of a test's own, which may come and go. It keeps nothing. */
export interface OwnRedis {
  readonly url: string;
  /** Does nothing where it runs. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** It takes connections and commands, and answers none, until it is resumed. */
  hang(): void;
  resume(): void;
}

export async function startOwnRedis(): Promise<OwnRedis> {
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  let server: ChildProcess | undefined;
  const redis: OwnRedis = {
    url,
    async start() {
      if (isRunning(server)) return;
      const options = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"];
      server = spawn("redis-server", options, { stdio: "ignore" });
      await once(server, "spawn");
      await until(() => answers(url), `Redis to answer on port ${port}`);
    },
    async stop() {
      if (!isRunning(server)) return;
      const ended = once(server, "exit");
      server.kill("SIGKILL");
      await ended;
    },
    hang: () => void server?.kill("SIGSTOP"),
    resume: () => void server?.kill("SIGCONT"),
  };
  await redis.start();
  return redis;
}

function isRunning(server: ChildProcess | undefined): server is ChildProcess {
  return server !== undefined && server.exitCode === null && server.signalCode === null;
}

async function answers(url: string): Promise<boolean> {
  const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null });
  client.on("error", () => undefined);
  try {
    await client.connect();
    return (await client.ping()) === "PONG";
  } catch {
    return false;
  } finally {
    client.disconnect();
  }
}

/**
 * A port below those that systems give to connections: while the server is stopped, one of them could otherwise take its
 * port, and even a client that tries to reach it could end up connected to itself.
 */
async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 30_000);
    const server = createServer().listen(port, "127.0.0.1");
    const isFree = await once(server, "listening").then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, "close");
    return port;
  }
}
