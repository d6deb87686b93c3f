import type { TestProject } from "vitest/node";
import { startEmbedded } from "../../src/database/embedded.js";
import { migrate } from "../../src/database/migrate.js";
import { embeddedConnection } from "../../src/database/open.js";

/** One embedded server for all files of the run; each test makes stores of its own in it. */
export default async function setUp({ provide }: TestProject): Promise<() => Promise<void>> {
  const server = await startEmbedded({});
  await migrate(embeddedConnection(server.socketFolder));
  provide("database", { engine: "embedded", connection: embeddedConnection(server.socketFolder) });
  return () => server.close();
}
