import type { PoolConfig } from "pg";
import { inject, onTestFinished } from "vitest";
import { startEmbedded } from "../../../src/database/embedded/engine.js";
import { foldersOf } from "../../../src/database/embedded/restored.js";
import { connect, embeddedConnection, type OpenDatabase } from "../../../src/database/open.js";
import { givenDatabase } from "./database.js";
import { connectionTimeoutMillis, createDatabase, onServer } from "./postgresql.js";
import { unmigratedPlaceForTest } from "../process.js";

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

/** A database of the test's own on this project's engine, empty at first. */
export async function emptyDatabase(label: string): Promise<PoolConfig> {
  if (givenDatabase().engine === "postgres") {
    const own = await createOwnDatabase(label);
    onTestFinished(() => own.drop());
    return { connectionString: own.url };
  }
  const { dataDir } = await unmigratedPlaceForTest();
  const server = await startEmbedded({ folder: foldersOf(dataDir).database });
  onTestFinished(() => server.close()); // before its folder is removed
  return embeddedConnection(server.socketFolder);
}
