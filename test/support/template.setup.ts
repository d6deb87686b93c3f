import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { startEmbedded } from "../../src/database/embedded/engine.js";
import { migrate } from "../../src/database/migrations/migrate.js";
import { embeddedConnection } from "../../src/database/open.js";

/** Setups of all projects run in one process, but do not share modules. */
const key = Symbol.for("vitrine.test.template");
const shared = globalThis as typeof globalThis & { [key]?: Promise<string> };

/**
 * The folder of a migrated embedded database without stores, for tests to copy. PGlite takes 7 seconds of CPU time to
 * create a database and 1 to open it, so it is made once for all projects.
 */
export default async function setUp({ provide }: TestProject): Promise<() => Promise<void>> {
  shared[key] ??= makeTemplate();
  const template = await shared[key];
  provide("template", template);
  return () => rm(template, { recursive: true, force: true });
}

async function makeTemplate(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "vt-template-"));
  const server = await startEmbedded({ folder });
  await migrate(embeddedConnection(server.socketFolder), () => undefined);
  await server.close();
  return folder;
}
