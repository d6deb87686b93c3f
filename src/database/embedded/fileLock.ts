import { createHash, randomUUID } from "node:crypto";
import { link, lstat, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { type Holder, isAlive, isCode, isElsewhere, isSame, parseHolder, thisHolder } from "./holder.js";

/** How often a holder touches its lock, for those who cannot see whether it lives. */
const touchEveryMs = 2_000;
/** A holder that has not touched its lock for so long is taken for gone by those. */
export const silenceMaxMs = 15_000;

/** A lock file, held by this process. */
export interface FileLock {
  /** Who held it before and is gone without having released it. */
  readonly abandonedBy: Holder | undefined;
  /** Settles when somebody else took the lock over, which happens to a process that stood still for too long. */
  readonly lost: Promise<Error>;
  /** Tells other processes more about the holder. */
  publish(details: Pick<Holder, "socketFolder">): Promise<void>;
  release(): Promise<void>;
}

interface LockOptions {
  /** Called before a holder elsewhere is waited for, which gave no sign of life yet. */
  readonly onWait?: ((holder: Holder) => void) | undefined;
  readonly touchMs?: number;
}

/**
 * Locks by a file with the pid in it. The lock of a process that is gone is taken over: at once where that can be seen, and
 * else, if it was in another container or on another machine, when it has not been touched for some seconds.
 *
 * @returns the lock, or the living process that holds it
 */
export async function lockFile(path: string, options: LockOptions = {}): Promise<FileLock | Holder> {
  const self = await thisHolder();
  let { onWait } = options;
  for (;;) {
    if (await create(path, self)) return heldLock(path, self, undefined, options);
    const text = await readText(path);
    if (text === undefined) {
      if (await leadsNowhere(path)) throw new Error(`${path} is a link to nothing: remove it.`);
      continue; // just released
    }
    const holder = parseHolder(text);
    if (holder !== undefined && (await isElsewhere(holder))) {
      const wait = () => onWait?.(holder);
      if (await isTouched(path, wait)) {
        onWait = undefined;
        if ((await readText(path)) === text) return holder;
        continue; // released meanwhile, or another's
      }
    } else if (holder !== undefined && (await isAlive(holder))) return holder;
    if (await replaceStale(path, text, self)) return heldLock(path, self, holder, options);
  }
}

/** Who holds the lock, dead or alive. */
export async function readHolder(path: string): Promise<Holder | undefined> {
  return parseHolder((await readText(path)) ?? "");
}

function heldLock(path: string, self: Holder, abandonedBy: Holder | undefined, options: LockOptions): FileLock {
  let timer: NodeJS.Timeout | undefined;
  const lost = new Promise<Error>((resolve) => {
    const touch = async (): Promise<void> => {
      const holder = await readHolder(path);
      if (holder === undefined || isSame(holder, self)) return utimes(path, new Date(), new Date());
      clearInterval(timer);
      resolve(new Error(`${path} was taken over by another process, since this one stood still.`));
    };
    // A file that cannot be read or touched now is tried again.
    timer = setInterval(() => void touch().catch(() => undefined), options.touchMs ?? touchEveryMs).unref();
  });
  return {
    abandonedBy,
    lost,
    publish: (details) => overwrite(path, { ...self, ...details }),
    async release() {
      clearInterval(timer);
      if (isSame(await readHolder(path), self)) await rm(path, { force: true });
    },
  };
}

/** Whether a lock changes before it has been left alone for too long. Clocks that differ do not make this wait longer. */
async function isTouched(path: string, onWait: () => void): Promise<boolean> {
  const before = await touchedAt(path);
  const deadline = Math.min(before, Date.now()) + silenceMaxMs;
  if (Date.now() < deadline) onWait();
  while (Date.now() < deadline) {
    if ((await touchedAt(path)) !== before) return true;
    await sleep(50);
  }
  return false;
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

/** Whether the path is a link to what is not there: it can neither be read nor be made. */
async function leadsNowhere(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isSymbolicLink();
  } catch (error) {
    if (isCode(error, "ENOENT")) return false;
    throw error;
  }
}

async function touchedAt(path: string): Promise<number> {
  try {
    return (await stat(path)).mtimeMs;
  } catch (error) {
    if (isCode(error, "ENOENT")) return 0; // just released
    throw error;
  }
}
