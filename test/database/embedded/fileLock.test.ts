import { readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type FileLock, lockFile, readHolder } from "../../../src/database/embedded/fileLock.js";
import type { Holder } from "../../../src/database/embedded/lockOwner.js";
import { ago, fromNow, stopTimers } from "../../support/clock.js";
import { folderForTest } from "../../support/folder.js";
import { cli } from "../../support/process/cli.js";
import { placeForTest } from "../../support/process.js";
import { until } from "../../support/until.js";

async function lockPath(): Promise<string> {
  return join(await folderForTest(), "lock");
}

/** The lock, which must be had. */
async function take(path: string): Promise<FileLock> {
  const lock = await lockFile(path);
  if (!("release" in lock)) throw new Error(`held by ${lock.pid}`);
  return lock;
}

test("a lock is held until it is released, and others receive its holder", async () => {
  const path = await lockPath();
  const lock = await take(path);
  expect(await lockFile(path)).toMatchObject({ pid: process.pid });
  await lock.release();
  await (await take(path)).release();
  expect(await readdir(join(path, ".."))).toEqual([]);
});

test("the holder can publish the socket of its database", async () => {
  const path = await lockPath();
  const lock = await take(path);
  expect((await readHolder(path))?.socketFolder).toBeUndefined();
  await lock.publish({ socketFolder: "/tmp/somewhere" });
  expect(await readHolder(path)).toMatchObject({ pid: process.pid, socketFolder: "/tmp/somewhere" });
});

test("the lock of a process that has ended is taken over, with its details", async () => {
  const path = await lockPath();
  const gone: Holder = { pid: 999_999_999, startedAt: "1", socketFolder: "/tmp/left" };
  await writeFile(path, JSON.stringify(gone));
  const lock = await take(path);
  expect(lock.abandonedBy).toEqual(gone);
  expect(JSON.parse(await readFile(path, "utf8"))).toMatchObject({ pid: process.pid });
});

test("a later process with the same pid is not the holder", async () => {
  const path = await lockPath();
  await writeFile(path, JSON.stringify({ pid: process.pid, startedAt: "1" }));
  expect((await take(path)).abandonedBy).toEqual({ pid: process.pid, startedAt: "1" });
});

test.each(["", "{", "null", '{"pid":"1"}', "\0\0\0\0"])(
  "a lock file with the content %j has no holder",
  async (content) => {
    const path = await lockPath();
    await writeFile(path, content);
    expect((await take(path)).abandonedBy).toBeUndefined();
  },
);

/** A lock of a process in another container, whose pid is that of a living process here. Touched so long ago. */
async function lockElsewhere(path: string, touchedMsAgo: number): Promise<Holder> {
  const holder: Holder = { pid: process.pid, startedAt: "1", scope: "another boot pid:[1]", hostname: "c0ffee" };
  await writeFile(path, JSON.stringify(holder));
  await touch(path, touchedMsAgo);
  return holder;
}

function touch(path: string, msAgo = 0): Promise<void> {
  return utimes(path, ago(msAgo), ago(msAgo));
}

test("a holder in another container keeps its lock by its heartbeat, whatever process has its pid here", async () => {
  const path = await lockPath();
  const holder = await lockElsewhere(path, 5_000);
  const waited: Holder[] = [];
  const onWait = (who: Holder) => {
    waited.push(who);
    void touch(path);
  };
  expect(await lockFile(path, { onWait })).toEqual(holder);
  expect(waited).toEqual([holder]);
});

/**
 * Takes a lock with timers that the test moves, once it waits.
 *
 * @param onWait done before any time passes
 * @returns what lockFile gave, and whom it waited for
 */
async function lockLater(path: string, onWait: () => Promise<void> = () => Promise.resolve()) {
  const timers = stopTimers();
  const seen: { waited?: Holder; result?: Awaited<ReturnType<typeof lockFile>> } = {};
  const locking = lockFile(path, { onWait: (holder) => (seen.waited = holder) }).then((lock) => (seen.result = lock));
  const turn = () => new Promise((resolve) => setImmediate(resolve)); // what it does with files goes on
  while (seen.waited === undefined && seen.result === undefined) await turn();
  await onWait();
  for (; seen.result === undefined; await turn()) await timers.run(50);
  return { result: await locking, waited: seen.waited };
}

test("it loses its lock 15 seconds after its last heartbeat", async () => {
  const path = await lockPath();
  const holder = await lockElsewhere(path, 5_000);
  const touchedAt = (await stat(path)).mtimeMs;
  const { result, waited } = await lockLater(path);
  expect(result).toMatchObject({ abandonedBy: holder });
  expect(waited).toEqual(holder);
  expect(fromNow(0).getTime() - touchedAt).toBeGreaterThanOrEqual(15_000);
});

test("after a reboot, which takes longer, there is no wait", async () => {
  const path = await lockPath();
  const holder = await lockElsewhere(path, 15_001);
  const onWait = () => expect.unreachable();
  expect(await lockFile(path, { onWait })).toMatchObject({ abandonedBy: holder });
});

test("a lock that a holder in another container releases is acquired at once", async () => {
  const path = await lockPath();
  await lockElsewhere(path, 0);
  const lock = await lockFile(path, { onWait: () => void rm(path) });
  expect("release" in lock && lock.abandonedBy).toBeUndefined();
});

test("a holder has a heartbeat until it releases its lock, and notices when it was taken over", async () => {
  const path = await lockPath();
  const lock = await lockFile(path, { touchMs: 10 });
  if (!("release" in lock)) throw new Error("held");
  await touch(path, 60_000);
  await until(async () => (await stat(path)).mtime > ago(10_000), "the lock to be touched");
  const other = await lockElsewhere(path, 60_000);
  expect((await lock.lost).message).toBe(`${path} was taken over by another process while this one was suspended.`);
  await lock.release();
  expect(await readHolder(path), "the other's lock stays").toEqual(other);
  expect((await stat(path)).mtime < ago(50_000)).toBe(true);
});

test("a folder in use in another container is refused to commands, with its holder", async () => {
  const { env, dataDir } = await placeForTest();
  const path = join(dataDir, "vitrine.lock");
  await lockElsewhere(path, 0);
  const refusal = `${dataDir} is in use by process ${process.pid} in another container or on another machine, c0ffee. It is taken over 15 seconds after its last heartbeat.`;
  const state = { hasEnded: false };
  const command = cli(["token", "list", "acme"], env).finally(() => (state.hasEnded = true));
  while (!state.hasEnded) await touch(path); // its heartbeat
  expect(await command).toEqual({
    status: 4,
    stdout: "",
    stderr: `vitrine: ${refusal} Waiting for that.\nvitrine: ${refusal}\n`,
  });
  expect(await readdir(dataDir)).toEqual(["vitrine.lock"]);
});

test("a process that waits does not replace the lock of one that has taken the stale lock over meanwhile", async () => {
  const path = await lockPath();
  await lockElsewhere(path, 5_000);
  await (await take(`${path}.other`)).publish({ socketFolder: "/tmp/faster" });
  const text = await readFile(`${path}.other`, "utf8");
  const replace = async () => {
    const { mtime } = await stat(path);
    await utimes(`${path}.other`, mtime, mtime); // or it would be noticed as a heartbeat
    await rename(`${path}.other`, path);
  };
  const { result } = await lockLater(path, replace);
  expect(result).toMatchObject({ pid: process.pid, socketFolder: "/tmp/faster" });
  expect(await readFile(path, "utf8")).toBe(text);
});

test("exactly one of many processes takes over the same stale lock", async () => {
  const path = await lockPath();
  for (let round = 0; round < 20; round += 1) {
    await writeFile(path, JSON.stringify({ pid: process.pid, startedAt: `${round}` }));
    const locks = await Promise.all(Array.from({ length: 8 }, () => lockFile(path)));
    expect(locks.filter((lock) => "release" in lock)).toHaveLength(1);
  }
  expect(await readdir(join(path, ".."))).toEqual(["lock"]);
});
