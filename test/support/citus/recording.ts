import pg from "pg";
import { connect, type OpenDatabase } from "../../../src/database/open.js";
import { inject } from "vitest";

/** A database under test, and every statement that was sent to it. */
export interface RecordedDatabase {
  readonly database: OpenDatabase;
  /** Texts, each once, in the order in which they were first sent. */
  readonly statements: Set<string>;
}

/** Opens the database under test by connections that write down what they are told to run. */
export function recordedDatabase(): RecordedDatabase {
  const statements = new Set<string>();
  class RecordingClient extends pg.Client {
    override query(...args: any[]): any {
      const [first] = args;
      statements.add(typeof first === "string" ? first : first.text);
      return (super.query as (...all: any[]) => any)(...args);
    }
  }
  const { engine, connection } = inject("database");
  const recorded = { ...connection, Client: RecordingClient };
  return { database: connect(engine, recorded, () => undefined), statements };
}
