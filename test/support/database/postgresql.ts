import pg from "pg";

/** On a busy machine, a test's statement waits longer for those of other files than a request would. */
export const connectionTimeoutMillis = 60_000;

/** Runs one statement on a server, or several without values, on a connection of its own. */
export async function onServer(
  connectionString: string | undefined,
  statement: string,
  values?: readonly unknown[],
): Promise<any[]> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return (await client.query(statement, values === undefined ? undefined : [...values])).rows;
  } finally {
    await client.end();
  }
}

/** A new database on a server: an empty one, or a copy of another one to which nobody is connected. */
export async function createDatabase(
  server: string,
  name: string,
  template = "template1",
): Promise<{ readonly url: string; readonly drop: () => Promise<void> }> {
  const drop = async () => void (await onServer(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
  await drop();
  await onServer(server, `CREATE DATABASE ${name} TEMPLATE ${template}`);
  return { url: Object.assign(new URL(server), { pathname: `/${name}` }).href, drop };
}
