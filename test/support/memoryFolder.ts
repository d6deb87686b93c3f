import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";

/** A file system in memory, as Linux has one. */
const memory = "/dev/shm";
const name = /^vitrine-test-(?<pid>\d+)$/u;
/** Twice what a run was seen to need. */
const freeBytesMin = 3 * 1024 ** 3;

/**
 * Makes a folder for the temporary files of a run in memory, where there is room: tests copy and remove databases of a thousand
 * files each, which take a tenth of a run's CPU time on a disk. Its process removes it when it ends, and what a killed run has left.
 *
 * @returns undefined where files stay on the disk
 */
export function makeMemoryFolder(): string | undefined {
  if (!existsSync(memory)) return undefined;
  const folder = join(memory, `vitrine-test-${process.pid}`);
  try {
    removeLeftovers();
    const { bavail, bsize } = statfsSync(memory);
    if (bavail * bsize < freeBytesMin) return undefined;
    mkdirSync(folder);
  } catch {
    return undefined; // not ours to write, or of another user's run
  }
  chmodSync(folder, 0o1777); // some tests run programs as other users, as /tmp allows
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function removeLeftovers(): void {
  for (const entry of readdirSync(memory)) {
    const pid = name.exec(entry)?.groups?.["pid"];
    if (pid !== undefined && !isAlive(Number(pid))) rmSync(join(memory, entry), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
