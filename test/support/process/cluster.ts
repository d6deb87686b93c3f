import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chown, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { onServer } from "../database/postgresql.js";
import { until } from "../until.js";

const run = promisify(execFile);

/** A PostgreSQL server of a test's own, which it may stop and freeze as it likes. */
export interface Cluster {
  readonly url: string;
  /** Resolves when it takes connections. */
  start(): Promise<void>;
  /** Ends all connections and the server, as `pg_ctl stop` does. */
  stop(): Promise<void>;
  /** Its processes stand still: connections stay open, new ones are taken by the system, nothing is answered. */
  freeze(): Promise<void>;
  thaw(): void;
  /** Starts it anew as a standby, which is read-only until `SELECT pg_promote()`. */
  restartAsStandby(): Promise<void>;
  remove(): Promise<void>;
}

/** Roles other than the superuser of `url` must give their password. */
const access = `host all postgres 127.0.0.1/32 trust
host all all 127.0.0.1/32 scram-sha-256
`;

/** Makes an empty cluster on a free port; it does not run yet. The server's programs must be installed. */
export async function createCluster(): Promise<Cluster> {
  const programs = await findPrograms();
  const user = await userOfServer();
  const folder = await mkdtemp(join(tmpdir(), "vt-cluster-"));
  if (user !== undefined) await chown(folder, user.uid, user.gid);
  const options = { ...user, cwd: folder };
  await run(
    join(programs, "initdb"),
    ["-D", folder, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"],
    options,
  );
  await writeFile(join(folder, "pg_hba.conf"), access);
  const port = await freePort();
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const settings = ["listen_addresses=127.0.0.1", "unix_socket_directories=", "fsync=off", "shared_buffers=16MB"];
  const args = ["-D", folder, "-p", String(port), ...settings.flatMap((setting) => ["-c", setting])];
  let server: ChildProcess | undefined;
  let frozen: number[] = [];
  const thaw = () => {
    for (const pid of frozen.splice(0)) process.kill(pid, "SIGCONT");
  };
  const stop = async () => {
    thaw();
    if (server === undefined || server.exitCode !== null) return;
    server.kill("SIGINT"); // "fast": transactions are rolled back
    await once(server, "exit");
  };
  process.once("exit", () => void (thaw(), server?.kill("SIGQUIT"))); // after a test that ran out of time
  const startServer = async () => {
    server = spawn(join(programs, "postgres"), args, { ...options, stdio: "ignore" });
    const answers = () =>
      onServer(url, "SELECT 1").then(
        () => true,
        () => false,
      );
    await until(answers, "PostgreSQL to start", 60_000);
  };
  return {
    url,
    start: startServer,
    stop,
    async restartAsStandby() {
      await stop();
      await writeFile(join(folder, "standby.signal"), "");
      if (user !== undefined) await chown(join(folder, "standby.signal"), user.uid, user.gid);
      await startServer();
    },
    async freeze() {
      const main = server?.pid ?? 0;
      process.kill(main, "SIGSTOP"); // first, so that it makes no further ones
      frozen = [main, ...(await childrenOf(main))];
      for (const pid of frozen) process.kill(pid, "SIGSTOP");
    },
    thaw,
    async remove() {
      await stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Finds the programs of the newest version. Debian keeps versions beside each other and out of PATH. */
async function findPrograms(): Promise<string> {
  const versions = await readdir("/usr/lib/postgresql").catch(() => []);
  const newest = versions.map(Number).toSorted((a, b) => b - a)[0];
  return newest === undefined
    ? (await run("pg_config", ["--bindir"])).stdout.trim()
    : `/usr/lib/postgresql/${newest}/bin`;
}

/** PostgreSQL refuses to run as root. */
async function userOfServer(): Promise<{ uid: number; gid: number } | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const idOf = async (option: string) => Number((await run("id", [option, "postgres"])).stdout);
  return { uid: await idOf("-u"), gid: await idOf("-g") };
}

async function freePort(): Promise<number> {
  const listener = createServer().listen(0, "127.0.0.1");
  await once(listener, "listening");
  const { port } = listener.address() as AddressInfo;
  listener.close();
  await once(listener, "close");
  return port;
}

async function childrenOf(pid: number): Promise<number[]> {
  const { stdout } = await run("ps", ["-o", "pid=", "--ppid", String(pid)]);
  return stdout.trim().split(/\s+/u).map(Number);
}
