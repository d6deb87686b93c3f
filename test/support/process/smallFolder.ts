import { spawnSync } from "node:child_process";
import { mkdtempSync, rmdirSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, onTestFinished } from "vitest";

/** A folder on a file system of its own that has so many bytes, until the last test of the file. */
export function mountSmallFolder(bytes: number): string {
  const folder = mkdtempSync(join(tmpdir(), "vt-small-"));
  const { status, stderr } = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${bytes}`, "tmpfs", folder]);
  if (status !== 0) throw new Error(`No file system can be mounted: ${String(stderr)}`);
  afterAll(() => {
    spawnSync("umount", ["--lazy", folder]);
    rmdirSync(folder);
  });
  return folder;
}

/** Runs work of this process with another folder for temporary files. */
export async function withTemporaryFolder<Result>(folder: string, work: () => Promise<Result>): Promise<Result> {
  const { TMPDIR: own } = process.env;
  process.env["TMPDIR"] = folder;
  try {
    return await work();
  } finally {
    if (own === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = own;
  }
}

/** Fills the disk of a folder, but for some megabytes, with a file, which makes room when it is removed, or the test has ended. */
export async function fillDisk(folder: string, leftMegabytes = 0): Promise<{ empty(): void }> {
  const path = join(folder, "ballast");
  const empty = (): void => rmSync(path, { force: true });
  onTestFinished(empty); // a test that fails leaves room for the next try
  const file = await open(path, "w");
  try {
    for (const bytes of [1024 * 1024, 4_096]) {
      const piece = Buffer.alloc(bytes);
      await writeUntilFull(() => file.write(piece));
    }
    const { size } = await file.stat();
    await file.truncate(size - leftMegabytes * 1024 * 1024);
  } finally {
    await file.close();
  }
  return { empty };
}

async function writeUntilFull(write: () => Promise<unknown>): Promise<void> {
  try {
    for (;;) await write();
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error;
  }
}
