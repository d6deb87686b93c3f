import type { Socket } from "node:net";
import pg, { type PoolConfig } from "pg";

export interface WatchdogOptions {
  /** A statement that takes longer makes us ask whether the server still answers anybody. */
  readonly suspectAfterMs: number;
  readonly answerTimeoutMs: number;
}

const byDefault: WatchdogOptions = { suspectAfterMs: 3_000, answerTimeoutMs: 5_000 };

/**
 * Notices that the server of a pool hangs. Such a server, or a network that swallows everything, closes nothing, and it
 * is the server that keeps statement_timeout: a statement would be waited for without end. A limit kept here would have
 * to be that of the longest statement, so the server is asked instead, on a new connection, as often as a statement has
 * been running for some seconds. Behind a pooler that is busy the new connection may wait for its turn: a server that says
 * anything on another one meanwhile does not hang.
 *
 * @param config how to open a connection
 * @param sockets those of the pool, as they are at any time
 */
export function watchServer(
  pool: pg.Pool,
  config: PoolConfig,
  sockets: ReadonlySet<Socket>,
  onHung: (problem: Error) => void,
  { suspectAfterMs, answerTimeoutMs }: WatchdogOptions = byDefault,
): void {
  const busySince = new Map<pg.PoolClient, number>();
  let timer: NodeJS.Timeout | undefined;

  const arm = (): void => {
    timer = setTimeout(() => void look(), suspectAfterMs).unref();
  };
  const look = async (): Promise<void> => {
    const suspect = performance.now() - suspectAfterMs;
    const isSuspicious = [...busySince.values()].some((since) => since <= suspect);
    if (isSuspicious && !pool.ending && !(await isAnswering(config, sockets, answerTimeoutMs))) {
      onHung(new Error(`The database server has not answered for ${answerTimeoutMs / 1_000} seconds.`));
    }
    timer = undefined;
    if (busySince.size > 0) arm();
  };

  pool.on("acquire", (client) => {
    busySince.set(client, performance.now());
    if (timer === undefined) arm();
  });
  pool.on("release", (_, client) => void busySince.delete(client));
}

async function isAnswering(config: PoolConfig, sockets: ReadonlySet<Socket>, timeoutMs: number): Promise<boolean> {
  // Without the one that asks: a pooler may greet it by itself.
  const before = [...sockets].map((socket) => ({ socket, bytesRead: socket.bytesRead }));
  return (await answers(config, timeoutMs)) || before.some(({ socket, bytesRead }) => socket.bytesRead > bytesRead);
}

async function answers(config: PoolConfig, timeoutMs: number): Promise<boolean> {
  const limits = { connectionTimeoutMillis: timeoutMs, query_timeout: timeoutMs };
  const client = new pg.Client({ ...config, ...limits });
  client.on("error", () => undefined); // the call that needs the connection reports it
  try {
    await client.connect();
    await client.query("SELECT 1");
    return true;
  } catch (error) {
    return error instanceof pg.DatabaseError; // a refusal is an answer
  } finally {
    void client.end().catch(() => undefined);
  }
}
