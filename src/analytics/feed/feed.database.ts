import type { Config } from "../../config.js";
import type { OpenDatabase } from "../../database/open.js";
import { createPostgresRelay } from "./feed.postgres.js";
import type { FeedRelay } from "./feed.relay.js";
import { createSocketReceiver, createSocketSender } from "./feed.socket.js";

/** Relays changes between processes that share only their database. @param log called once for each outage */
export function createDatabaseRelay(
  { engine, connection, ownSocketFolder }: Pick<OpenDatabase, "engine" | "connection" | "ownSocketFolder">,
  { databaseNamedStatements }: Pick<Config, "databaseNamedStatements">,
  log: (problem: Error) => void,
): FeedRelay | undefined {
  if (engine === "postgresql") return createPostgresRelay(connection, { listens: databaseNamedStatements, log });
  if (ownSocketFolder !== undefined) return createSocketReceiver(ownSocketFolder, log);
  return connection.host === undefined ? undefined : createSocketSender(connection.host);
}
