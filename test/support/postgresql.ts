import pg from "pg";

/** A database of a test's own. */
interface OwnDatabase {
  readonly url: string;
  readonly drop: () => Promise<void>;
}

/** Runs one statement on a server, on a connection of its own. */
export async function onServer(connectionString: string | undefined, statement: string): Promise<any[]> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}

/** A new empty database on a server. */
export async function createDatabase(server: string, name: string): Promise<OwnDatabase> {
  const drop = async () => void (await onServer(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
  await drop();
  await onServer(server, `CREATE DATABASE ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { url: url.href, drop };
}
