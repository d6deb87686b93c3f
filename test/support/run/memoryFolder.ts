import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";
import { isAlive, thisHolder } from "../../../src/database/embedded/lockOwner.js";

/** A file system in memory, as Linux has one. */
const memory = "/dev/shm";
/** By the pid and the start of a run. */
const name = /^vitrine-test-(\d+)-(\d+)$/u;
/** Twice what a run was seen to need. */
const freeBytesMin = 3 * 1024 ** 3;

/**
 * Puts the temporary files of a run, its workers and what they start into a folder in memory, unless TMPDIR names another or there
 * is no room: tests copy and remove databases of a thousand files each, which takes up to a tenth of a run's CPU time on a disk. Its
 * process removes it when it ends, and what a killed run has left.
 */
export async function useMemoryFolder(): Promise<void> {
  if (process.env["TMPDIR"] !== undefined) return;
  const folder = await makeMemoryFolder();
  if (folder !== undefined) process.env["TMPDIR"] = folder;
}

async function makeMemoryFolder(): Promise<string | undefined> {
  if (!existsSync(memory)) return undefined;
  const { pid, startedAt } = await thisHolder();
  const folder = join(memory, `vitrine-test-${pid}-${startedAt}`);
  try {
    await removeLeftovers();
    const { bavail, bsize } = statfsSync(memory);
    if (bavail * bsize < freeBytesMin) return undefined;
    mkdirSync(folder);
  } catch {
    return undefined; // not ours to write, or of another user's run
  }
  chmodSync(folder, 0o1777); // some tests run programs as other users, as /tmp allows
  // After an interrupt, threads of the engines still write.
  process.once("exit", () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

async function removeLeftovers(): Promise<void> {
  for (const entry of readdirSync(memory)) {
    const [isOfRun, pid, startedAt = ""] = name.exec(entry) ?? [];
    if (isOfRun === undefined || (await isAlive({ pid: Number(pid), startedAt }))) continue;
    rmSync(join(memory, entry), { recursive: true, force: true });
  }
}
