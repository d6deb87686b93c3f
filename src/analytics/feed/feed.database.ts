import type { Config } from "../../config.js";
import type { OpenDatabase } from "../../database/open.js";
import { createPostgresRelay } from "./feed.postgres.js";
import type { FeedRelay } from "./feed.relay.js";
import { createSocketReceiver, createSocketSender } from "./feed.socket.js";

/** Relays changes between processes that share only their database. @param log called once for each outage */
export function createDatabaseRelay(
  { engine, connection }: Pick<OpenDatabase, "engine" | "connection">,
  { databaseNamedStatements }: Pick<Config, "databaseNamedStatements">,
  log: (problem: Error) => void,
): FeedRelay {
  if (engine.kind !== "embedded") return createPostgresRelay(connection, { listens: databaseNamedStatements, log });
  const { socketFolder, isOwn } = engine;
  return isOwn ? createSocketReceiver(socketFolder, log) : createSocketSender(socketFolder);
}
