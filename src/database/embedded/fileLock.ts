import { createHash, randomUUID } from "node:crypto";
import { link, lstat, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { pause } from "../../lib/timers.js";
import { type Holder, isAlive, isCode, isElsewhere, isSame, parseHolder, thisHolder } from "./lockOwner.js";

/** The heartbeat, for processes that cannot see whether the holder is alive. */
const heartbeatMs = 2_000;
/** Such processes take over the lock after this time without a heartbeat. */
export const heartbeatTimeoutMs = 15_000;

export interface FileLock {
  /** The previous holder, which ended without releasing it. */
  readonly abandonedBy: Holder | undefined;
  /** Settles when another process took over the lock, because this one was frozen. */
  readonly lost: Promise<Error>;
  publish(details: Pick<Holder, "socketFolder">): Promise<void>;
  release(): Promise<void>;
}

interface LockOptions {
  /** Called before waiting for the heartbeat of a holder on another machine or in another container. */
  readonly onWait?: ((holder: Holder) => void) | undefined;
  readonly touchMs?: number;
}

/**
 * Locks a file, and writes the pid into it. Takes over the lock of a process that ended: immediately if that is visible, for
 * other containers after 15 seconds without a heartbeat.
 *
 * @returns the lock, or the living process that holds it
 */
export async function lockFile(path: string, options: LockOptions = {}): Promise<FileLock | Holder> {
  const self = await thisHolder();
  let { onWait } = options;
  for (;;) {
    if (await create(path, self)) return heldLock(path, self, undefined, options);
    const text = await textOf(path);
    if (text === undefined) continue; // just released
    const holder = parseHolder(text);
    if (holder !== undefined && (await isElsewhere(holder))) {
      const wait = () => onWait?.(holder);
      if (await isTouched(path, wait)) {
        onWait = undefined;
        if ((await readText(path)) === text) return holder;
        continue;
      }
    } else if (holder !== undefined && (await isAlive(holder))) return holder;
    if (await replaceStale(path, text, self)) return heldLock(path, self, holder, options);
  }
}

/** @throws for a dangling link, which can be neither read nor created */
async function textOf(path: string): Promise<string | undefined> {
  const text = await readText(path);
  if (text === undefined && (await isDanglingLink(path))) throw new Error(`${path} is a dangling link: remove it.`);
  return text;
}

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
      resolve(new Error(`${path} was taken over by another process while this one was suspended.`));
    };
    // The next heartbeat retries after an error.
    timer = setInterval(() => void touch().catch(() => undefined), options.touchMs ?? heartbeatMs).unref();
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

/** Waits for the holder's heartbeat. Clocks that differ do not prolong the wait. */
async function isTouched(path: string, onWait: () => void): Promise<boolean> {
  const before = await touchedAt(path);
  const deadline = Math.min(before, Date.now()) + heartbeatTimeoutMs;
  if (Date.now() < deadline) onWait();
  while (Date.now() < deadline) {
    if ((await touchedAt(path)) !== before) return true;
    await pause(50);
  }
  return false;
}

/**
 * Locks the stale lock first, so that two processes cannot both take it over.
 *
 * @returns false if another process was faster
 */
async function replaceStale(path: string, staleText: string, self: Holder): Promise<boolean> {
  const digest = createHash("sha256").update(staleText).digest("hex").slice(0, 16);
  const right = await lockFile(`${path}.${digest}`);
  if (!("release" in right)) {
    await pause(10);
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

/** Creates the file with its content atomically. @returns false if it exists */
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
    const found = await stat(path); // reading a pipe would never end
    if (found.isFile()) return await readFile(path, "utf8");
    const what = found.isDirectory() ? "a folder, not a file" : "not a file";
    throw new Error(`${path} is ${what}, as a lock must be: remove it.`);
  } catch (error) {
    if (isCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

/** Whether the path is a link to nothing. */
async function isDanglingLink(path: string): Promise<boolean> {
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
