import pg from "pg";

/** A database of a test file's own on the server of TEST_DATABASE_URL, empty at first. */
export interface OwnDatabase {
  readonly name: string;
  readonly url: string;
  /** Runs a statement, or several without values. */
  query(statement: string, values?: readonly unknown[]): Promise<any[]>;
  /** Ends every connection to it. */
  drop(): Promise<void>;
}

export async function createOwnDatabase(label: string): Promise<OwnDatabase> {
  const server = process.env["TEST_DATABASE_URL"] ?? "";
  const name = `vitrine_${label}_${process.pid}`;
  await runOn(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  await runOn(server, `CREATE DATABASE ${name}`);
  const url = Object.assign(new URL(server), { pathname: `/${name}` }).href;
  return {
    name,
    url,
    query: (statement, values) => runOn(url, statement, values),
    drop: async () => void (await runOn(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)),
  };
}

async function runOn(connectionString: string, statement: string, values?: readonly unknown[]): Promise<any[]> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return (await client.query(statement, values === undefined ? undefined : [...values])).rows;
  } finally {
    await client.end();
  }
}
