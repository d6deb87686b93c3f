import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { startEmbedded } from "../../src/database/embedded/engine.js";
import { embeddedConnection } from "../../src/database/open.js";
import { copyFolder } from "./copyFolder.js";
import { connectionTimeoutMillis } from "./postgresql.js";

/** One embedded server for all files of a project, on a copy of the template; each test makes stores of its own in it. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "vt-engine-"));
  await copyFolder(project.getProvidedContext().templates.migrated, folder);
  const server = await startEmbedded({ folder });
  const connection = { ...embeddedConnection(server.socketFolder), connectionTimeoutMillis };
  project.provide("database", { engine: "embedded", connection });
  return async () => {
    await server.close();
    await rm(folder, { recursive: true });
  };
}
