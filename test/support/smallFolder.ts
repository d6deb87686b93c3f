import { spawnSync } from "node:child_process";
import { mkdtempSync, rmdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

/** A folder on a file system of its own that has so many bytes, until the last test of the file; undefined without the right to mount one. */
export function mountSmallFolder(bytes: number): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), "vt-small-"));
  const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${bytes}`, "tmpfs", folder]);
  const isMounted = status === 0;
  afterAll(() => {
    if (isMounted) spawnSync("umount", ["--lazy", folder]);
    rmdirSync(folder);
  });
  return isMounted ? folder : undefined;
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
