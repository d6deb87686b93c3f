import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { startEmbedded } from "../../../src/database/embedded/embeddedEngine.js";
import { embeddedConnection } from "../../../src/database/open.js";
import { copyFolder, removeFolders } from "../run/copyFolder.js";
import type { GivenDatabase } from "../database/database.js";
import { connectionTimeoutMillis } from "../database/postgresql.js";

/** An engine runs one statement at a time: the workers would wait for one alone while a core is idle. */
const enginesCount = 2;

/** The embedded servers of a project's files, each on a copy of the template; each test makes stores of its own in one. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const { migrated } = project.getProvidedContext().templates;
  const started = await Promise.all(Array.from({ length: enginesCount }, () => startCopy(migrated)));
  project.provide(
    "databases",
    started.map(({ given }) => given),
  );
  return async () => void (await Promise.all(started.map(({ stop }) => stop())));
}

async function startCopy(template: string): Promise<{ given: GivenDatabase; stop: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), "vt-engine-"));
  await copyFolder(template, folder);
  const server = await startEmbedded({ folder });
  const connection = { ...embeddedConnection(server.socketFolder), connectionTimeoutMillis };
  return {
    given: { engine: "embedded", connection },
    async stop() {
      await server.close();
      await removeFolders(folder);
    },
  };
}
