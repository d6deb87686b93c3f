import { execFile, spawn } from "node:child_process";
import { promisify } from "node:util";
import pg from "pg";

const run = promisify(execFile);

/** A real server process on a database of its own, with a store and a token. */
export interface BenchServer {
  readonly url: string;
  readonly token: string;
  readonly store: string;
  readonly databaseUrl: string;
  readonly pid: number;
  /** Runs a vitrine command on the same database and gives what it printed as JSON. */
  command(...args: string[]): Promise<any>;
  stop(): Promise<void>;
}

const databaseServer = process.env["BENCH_DATABASE_URL"] ?? "postgres://postgres@127.0.0.1:5432/postgres";

/** Starts one, on PostgreSQL: BENCH_DATABASE_URL names the server. */
export async function startServer(environment: Record<string, string> = {}): Promise<BenchServer> {
  const name = `vitrine_bench_${process.pid}`;
  await onServer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  await onServer(`CREATE DATABASE ${name}`);
  const databaseUrl = Object.assign(new URL(databaseServer), { pathname: `/${name}` }).href;
  const env = {
    ...process.env,
    DATABASE_URL: databaseUrl,
    LOG_LEVEL: "error",
    ANALYTICS_RATE_LIMIT: "0",
    ...environment,
  };
  const command = async (...args: string[]) => {
    const { stdout } = await run(process.execPath, ["dist/main.js", ...args, "--json"], { env, maxBuffer: 1e8 });
    return JSON.parse(stdout);
  };
  await command("migrate");
  const { store } = await command("store", "create", "bench");
  const { token } = await command("token", "issue", store);
  const server = spawn(process.execPath, ["dist/main.js", "serve"], {
    env: { ...env, PORT: "0" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const url = await new Promise<string>((resolve, reject) => {
    server.once("exit", (code) => reject(new Error(`The server ended with ${code}.`)));
    server.stdout.on("data", (text: Buffer) => {
      const found = /listens on (\S+)/u.exec(text.toString());
      if (found?.[1] !== undefined) resolve(found[1]);
    });
  });
  return {
    url,
    token,
    store,
    databaseUrl,
    pid: server.pid ?? 0,
    command,
    async stop() {
      const ended = new Promise((resolve) => server.once("exit", resolve));
      server.kill("SIGTERM");
      await ended;
      await onServer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    },
  };
}

/** Runs a GraphQL operation; throws on any error. */
export async function graphql({ url, token }: BenchServer, query: string, variables: object): Promise<any> {
  const response = await fetch(`${url}/graphql`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-service-access-token": token },
    body: JSON.stringify({ query, variables }),
  });
  const { data, errors } = (await response.json()) as { data?: any; errors?: unknown };
  if (errors !== undefined) throw new Error(JSON.stringify(errors));
  return data;
}

/** The middle value. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}

async function onServer(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseServer });
  await client.connect();
  await client.query(statement);
  await client.end();
}
