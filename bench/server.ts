import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import pg from "pg";
import { closeLater, temporaryFolder } from "./resources.js";

const run = promisify(execFile);
const killAfterMs = 20_000;

/** A service in a process of its own. */
export interface RunningService {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** A Vitrine server with a store and a token. */
export interface BenchServer extends RunningService {
  readonly store: string;
  readonly token: string;
  /** Runs a vitrine command on the same database and gives what it printed as JSON. */
  command(...args: string[]): Promise<any>;
}

/** Where a server keeps its data: on PostgreSQL, perhaps with a Redis to share the rest, or embedded in a folder. */
export type Database = { readonly DATABASE_URL: string; readonly REDIS_URL?: string } | { readonly DATA_DIR: string };

/** The PostgreSQL on which databases are created. */
export const databaseServer = process.env["BENCH_DATABASE_URL"] ?? "postgres://postgres@127.0.0.1:5432/postgres";

/** Connections to PostgreSQL, of Vitrine and of the floor alike. */
const poolSize = "10";

/** Nothing of the caller's environment but what programs need to run: no setting of theirs changes what is measured. */
const { PATH, HOME, TMPDIR } = process.env;
const plainEnvironment = { PATH, HOME, TMPDIR, DATABASE_POOL_MAX: poolSize };

let databases = 0;
let stores = 0;

/** Creates an empty database. */
export async function createDatabase(): Promise<string> {
  databases += 1;
  const name = `vitrine_bench_${process.pid}_${databases}`;
  const created = query(databaseServer, `CREATE DATABASE ${name}`);
  closeLater(async () => {
    await created.catch(() => undefined);
    await query(databaseServer, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  });
  await created;
  return Object.assign(new URL(databaseServer), { pathname: `/${name}` }).href;
}

/** Starts the built server, which migrates the database, and makes a store and a token. */
export async function startServer(
  database: Database,
  more: Readonly<Record<string, string>> = {},
): Promise<BenchServer> {
  const service = await serve(database, more);
  const command = (...args: string[]) => runCommand(database, args);
  return { ...service, ...(await addStore(database)), command };
}

/** Makes a store and a token on a database that a server has migrated. */
export async function addStore(
  database: Database,
  name?: string,
): Promise<{ readonly store: string; readonly token: string }> {
  stores += 1;
  const { store } = await runCommand(database, ["store", "create", name ?? `bench-${stores}`]);
  const { token } = await runCommand(database, ["token", "issue", store]);
  return { store, token };
}

async function runCommand(database: Database, args: readonly string[]): Promise<any> {
  const env = commandEnvironment(database);
  const { stdout } = await run(process.execPath, ["dist/main.js", ...args, "--json"], { env, maxBuffer: 1e8 });
  return JSON.parse(stdout);
}

/** The environment of a vitrine command on that database. */
export function commandEnvironment(database: Database): Record<string, string | undefined> {
  return { ...plainEnvironment, ...database };
}

/** Starts so many servers on one database. The first makes a store and a token, which are good for all. */
export async function startServers(database: Database, count: number): Promise<[BenchServer, ...RunningService[]]> {
  const first = await startServer(database);
  const others = await Promise.all(Array.from({ length: count - 1 }, () => serve(database)));
  return [first, ...others];
}

/** Starts the built server and no more. It logs as it does by default: a line for each request, into a file. */
export function serve(database: Database, more: Readonly<Record<string, string>> = {}): Promise<RunningService> {
  const settings = { PORT: "0", ANALYTICS_RATE_LIMIT: "0", DEMO_TRAFFIC: "false" };
  return startService(["dist/main.js", "serve"], { ...settings, ...more, ...database });
}

/** Starts the floor on a database that a Vitrine server has migrated. */
export function startFloor(databaseUrl: string): Promise<RunningService> {
  return startService(["--import", "tsx", fileURLToPath(new URL("floor.ts", import.meta.url))], {
    DATABASE_URL: databaseUrl,
  });
}

/** Starts a Node.js process that prints the address on which it listens. */
async function startService(args: string[], environment: Record<string, string>): Promise<RunningService> {
  const logFile = join(temporaryFolder(), "stderr.log");
  const log = openSync(logFile, "w");
  const service = spawn(process.execPath, args, {
    env: { ...plainEnvironment, ...environment },
    stdio: ["ignore", "pipe", log],
    detached: true, // a session of its own, as a service has: Linux shares CPU time out among sessions (man 7 sched, autogroup)
  });
  closeSync(log); // the service has it
  const ended = new Promise<number | null>((resolve) => service.once("exit", resolve));
  const stop = closeLater(async () => {
    service.kill("SIGTERM");
    const timer = setTimeout(() => service.kill("SIGKILL"), killAfterMs);
    await ended;
    clearTimeout(timer);
  });
  await once(service, "spawn");
  const url = await new Promise<string>((resolve, reject) => {
    void ended.then((code) =>
      reject(new Error(`${args.join(" ")} ended with ${code}: ${readFileSync(logFile, "utf8").slice(-2_000)}`)),
    );
    service.stdout?.on("data", (text: Buffer) => {
      const found = /listens on (\S+)/u.exec(text.toString());
      if (found?.[1] !== undefined) resolve(found[1]);
    });
  });
  return { url, pid: service.pid ?? 0, stop };
}

/** Runs a GraphQL operation; throws on any error. */
export async function graphql(
  { url, token }: Pick<BenchServer, "url" | "token">,
  operation: string,
  variables: object,
): Promise<any> {
  const response = await fetch(`${url}/graphql`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-service-access-token": token },
    body: JSON.stringify({ query: operation, variables }),
  });
  const { data, errors } = (await response.json()) as { data?: any; errors?: unknown };
  if (errors !== undefined) throw new Error(JSON.stringify(errors));
  return data;
}

/** Runs a statement on a connection of its own. */
export async function query(databaseUrl: string, statement: string, values: unknown[] = []): Promise<any[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    return (await client.query(statement, values)).rows;
  } finally {
    await client.end();
  }
}
