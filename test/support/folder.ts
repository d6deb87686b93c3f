import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, onTestFinished } from "vitest";

/** Makes a temporary folder for the tests of a file, whose end removes it. */
export async function openFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "vt-test-"));
  afterAll(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Makes a temporary folder for one test. */
export async function folderForTest(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "vt-test-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
