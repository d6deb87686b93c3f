import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { mkdtemp, open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** Whether this user may mount file systems. */
export const canMount = process.platform === "linux" && mounts();

function mounts(): boolean {
  try {
    execFileSync("unshare", ["--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** A disk of its own for one test, in memory. */
export async function smallDisk(megabytes: number): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "vt-disk-"));
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", folder]);
  onTestFinished(() => {
    execFileSync("umount", ["--lazy", folder]);
    rmSync(folder, { recursive: true });
  });
  return folder;
}

/** Fills the disk of a folder, but for some megabytes, with a file, which makes room when it is removed. */
export async function fillDisk(folder: string, leftMegabytes = 0): Promise<{ empty(): void }> {
  const path = join(folder, "ballast");
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
  return { empty: () => rmSync(path) };
}

async function writeUntilFull(write: () => Promise<unknown>): Promise<void> {
  try {
    for (;;) await write();
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error;
  }
}
