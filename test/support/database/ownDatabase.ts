import type { PoolConfig } from "pg";
import { inject } from "vitest";
import { connect, type OpenDatabase } from "../../../src/database/open.js";
import { connectionTimeoutMillis, createDatabase, onServer } from "./postgresql.js";

/** A database of a test file's own on the server of TEST_DATABASE_URL. */
export interface OwnDatabase {
  readonly name: string;
  readonly url: string;
  /** Runs a statement, or several without values. */
  query(statement: string, values?: readonly unknown[]): Promise<any[]>;
  /** Connects to it; `drop` closes what is still open. */
  open(options?: PoolConfig): OpenDatabase;
  /** Ends every connection to it. */
  drop(): Promise<void>;
}

/** One that is empty at first. */
export function createOwnDatabase(label: string): Promise<OwnDatabase> {
  return create(label);
}

/** One that is migrated and has no stores yet. */
export function createMigratedDatabase(label: string): Promise<OwnDatabase> {
  return create(label, inject("migratedDatabase"));
}

async function create(label: string, template?: string): Promise<OwnDatabase> {
  const name = `vitrine_${label}_${process.pid}`;
  const { url, drop } = await createDatabase(process.env["TEST_DATABASE_URL"] ?? "", name, template);
  const opened = new Set<OpenDatabase>();
  return {
    name,
    url,
    query: (statement, values) => onServer(url, statement, values),
    open(options) {
      const connection = { connectionString: url, max: 2, connectionTimeoutMillis, ...options };
      const database = connect(connection, () => undefined);
      opened.add(database);
      return { ...database, close: async () => void (opened.delete(database) && (await database.close())) };
    },
    async drop() {
      await Promise.all([...opened].map((database) => database.close()));
      await drop();
    },
  };
}
