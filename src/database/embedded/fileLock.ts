import { createHash, randomUUID } from "node:crypto";
import { link, lstat, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { pause } from "../../lib/timers.js";
import { type Holder, isAlive, isCode, isElsewhere, isSame, parseHolder, thisHolder } from "./lockOwner.js";

/** A heartbeat, for processes that cannot see whether the holder lives. */
const heartbeatMs = 2_000;
/** After so long without a heartbeat, such processes take over the lock. */
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
  /** Called before waiting for the heartbeat of a holder elsewhere. */
  readonly onWait?: ((holder: Holder) => void) | undefined;
  readonly touchMs?: number;
}

/**
 * Locks a file with the pid in it. The lock of an ended process is taken over: immediately where that is visible, or in
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

/** @throws for a link to nothing, which can be neither read nor created */
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
    // Retried after errors.
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

/** Clocks that differ do not prolong the wait. */
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
 * Takes over a stale lock, under a lock on this very stale lock: a slow process must not replace that of a faster one.
 *
 * @returns false where another process was faster
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

/** Atomic, with the content. False where the file exists. */
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
    const found = await stat(path); // a pipe would be read for ever
    if (found.isFile()) return await readFile(path, "utf8");
    const what = found.isDirectory() ? "a folder, not a file" : "not a file";
    throw new Error(`${path} is ${what}, as a lock must be: remove it.`);
  } catch (error) {
    if (isCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

/** Such a link can neither be read nor created. */
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
