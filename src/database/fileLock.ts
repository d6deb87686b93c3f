import { createHash, randomUUID } from "node:crypto";
import { link, readFile, rename, rm, writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

/** A process that holds a lock file. */
export interface Holder {
  readonly pid: number;
  /** Tells a process from a later one with the same pid; empty where the system does not say. */
  readonly startedAt: string;
  /** Set once other processes may use its database. */
  readonly socketFolder?: string;
}

/** A lock file, held by this process. */
export interface FileLock {
  /** Who held it before and is gone without having released it. */
  readonly abandonedBy: Holder | undefined;
  /** Tells other processes more about the holder. */
  publish(details: Pick<Holder, "socketFolder">): Promise<void>;
  release(): Promise<void>;
}

/**
 * Locks by a file with the pid in it. The lock of a process that is gone is taken over.
 *
 * @returns the lock, or the living process that holds it
 */
export async function lockFile(path: string): Promise<FileLock | Holder> {
  const self: Holder = { pid: process.pid, startedAt: await startOf(process.pid) };
  for (;;) {
    if (await create(path, self)) return heldLock(path, self, undefined);
    const text = await readText(path);
    if (text === undefined) continue; // just released
    const holder = parseHolder(text);
    if (holder !== undefined && (await isAlive(holder))) return holder;
    if (await replaceStale(path, text, self)) return heldLock(path, self, holder);
  }
}

/** Who holds the lock, dead or alive. */
export async function readHolder(path: string): Promise<Holder | undefined> {
  return parseHolder((await readText(path)) ?? "");
}

export async function isAlive({ pid, startedAt }: Holder): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (!isCode(error, "EPERM")) return false; // EPERM: it lives and belongs to somebody else
  }
  return (await startOf(pid)) === startedAt;
}

function heldLock(path: string, self: Holder, abandonedBy: Holder | undefined): FileLock {
  return {
    abandonedBy,
    publish: (details) => overwrite(path, { ...self, ...details }),
    release: () => rm(path, { force: true }),
  };
}

/**
 * Takes over the lock of a process that is gone. Several processes may find it so at one time, and the slowest must not
 * replace the lock of the fastest: only the holder of a lock on this very stale lock may replace it.
 *
 * @returns false where another process was or is at it
 */
async function replaceStale(path: string, staleText: string, self: Holder): Promise<boolean> {
  const digest = createHash("sha256").update(staleText).digest("hex").slice(0, 16);
  const right = await lockFile(`${path}.${digest}`);
  if (!("release" in right)) {
    await sleep(10);
    return false;
  }
  try {
    if ((await readText(path)) !== staleText) return false;
    await overwrite(path, self);
    return true;
  } finally {
    await right.release();
  }
}

/** Creates the file with its content in one step, so that nobody reads it half written. False if there is one. */
async function create(path: string, holder: Holder): Promise<boolean> {
  const draft = await writeDraft(path, holder);
  try {
    await link(draft, path);
    return true;
  } catch (error) {
    if (isCode(error, "EEXIST")) return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

async function overwrite(path: string, holder: Holder): Promise<void> {
  await rename(await writeDraft(path, holder), path);
}

async function writeDraft(path: string, holder: Holder): Promise<string> {
  const draft = `${path}.${randomUUID()}`;
  await writeFile(draft, JSON.stringify(holder), { mode: 0o600 });
  return draft;
}

async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (isCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

function parseHolder(text: string): Holder | undefined {
  try {
    const { pid, startedAt, socketFolder } = JSON.parse(text) as Partial<Holder>;
    if (typeof pid !== "number" || typeof startedAt !== "string") return undefined;
    return { pid, startedAt, ...(typeof socketFolder === "string" && { socketFolder }) };
  } catch {
    return undefined;
  }
}

/**
 * From /proc/PID/stat (proc(5)) field 22, the start in clock ticks since boot; the name before it may hold spaces.
 * Empty where the system has no such file, and for a zombie: it is gone, though its parent has not noticed.
 */
async function startOf(pid: number): Promise<string> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, "utf8");
    const [state, ...fields] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return state === "Z" ? "" : (fields[18] ?? "");
  } catch {
    return "";
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
