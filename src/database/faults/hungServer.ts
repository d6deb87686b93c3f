import type { Socket } from "node:net";
import pg, { type PoolConfig } from "pg";

export interface WatchdogOptions {
  readonly probeAfterMs: number;
  readonly responseTimeoutMs: number;
}

const defaults: WatchdogOptions = { probeAfterMs: 3_000, responseTimeoutMs: 5_000 };

/**
 * Detects a server or network that hangs without closing connections: the server itself keeps statement_timeout, so a
 * statement would wait forever. While any statement runs for long, the server is probed over a new connection. A busy
 * pooler may queue that one, so data on the pool's connections counts as a response too.
 */
export function watchServer(
  pool: pg.Pool,
  config: PoolConfig,
  sockets: ReadonlySet<Socket>,
  onHung: (problem: Error) => void,
  { probeAfterMs, responseTimeoutMs }: WatchdogOptions = defaults,
): void {
  const busySince = new Map<pg.PoolClient, number>();
  let timer: NodeJS.Timeout | undefined;

  const schedule = (): void => {
    timer = setTimeout(() => void check(), probeAfterMs).unref();
  };
  const check = async (): Promise<void> => {
    const startedBefore = performance.now() - probeAfterMs;
    const isOverdue = [...busySince.values()].some((since) => since <= startedBefore);
    if (isOverdue && !pool.ending && !(await isResponding(config, sockets, responseTimeoutMs))) {
      onHung(new Error(`The database server has not answered for ${responseTimeoutMs / 1_000} seconds.`));
    }
    timer = undefined;
    if (busySince.size > 0) schedule();
  };

  pool.on("acquire", (client) => {
    busySince.set(client, performance.now());
    if (timer === undefined) schedule();
  });
  pool.on("release", (_, client) => void busySince.delete(client));
}

async function isResponding(config: PoolConfig, sockets: ReadonlySet<Socket>, timeoutMs: number): Promise<boolean> {
  // Without the probe's connection: a pooler may greet it without the server.
  const before = [...sockets].map((socket) => ({ socket, bytesRead: socket.bytesRead }));
  return (await probe(config, timeoutMs)) || before.some(({ socket, bytesRead }) => socket.bytesRead > bytesRead);
}

async function probe(config: PoolConfig, timeoutMs: number): Promise<boolean> {
  const limits = { connectionTimeoutMillis: timeoutMs, query_timeout: timeoutMs };
  const client = new pg.Client({ ...config, ...limits });
  client.on("error", () => undefined);
  try {
    await client.connect();
    await client.query("SELECT 1");
    return true;
  } catch (error) {
    return error instanceof pg.DatabaseError; // a refusal is a response
  } finally {
    void client.end().catch(() => undefined);
  }
}
