import { spawn } from "node:child_process";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type FileLock, type Holder, lockFile, readHolder } from "../../src/database/fileLock.js";
import { placeForTest } from "../support/process.js";

async function lockPath(): Promise<string> {
  const { dataDir } = await placeForTest();
  return join(dataDir, "lock");
}

/** The lock, which must be had. */
async function take(path: string): Promise<FileLock> {
  const lock = await lockFile(path);
  if (!("release" in lock)) throw new Error(`held by ${lock.pid}`);
  return lock;
}

/** The pid of a process that has ended. */
async function pidOfTheDead(): Promise<number> {
  const child = spawn(process.execPath, ["-e", ""]);
  await new Promise((resolve) => child.once("exit", resolve));
  return child.pid ?? 0;
}

test("a lock is held until it is released, and whoever comes meanwhile learns by whom", async () => {
  const path = await lockPath();
  const lock = await take(path);
  expect(await lockFile(path)).toMatchObject({ pid: process.pid });
  await lock.release();
  await (await take(path)).release();
  expect(await readdir(join(path, ".."))).toEqual([]);
});

test("the holder can tell others where its database answers", async () => {
  const path = await lockPath();
  const lock = await take(path);
  expect((await readHolder(path))?.socketFolder).toBeUndefined();
  await lock.publish({ socketFolder: "/tmp/somewhere" });
  expect(await readHolder(path)).toMatchObject({ pid: process.pid, socketFolder: "/tmp/somewhere" });
});

test("the lock of a process that is gone is taken over, and what it left is known", async () => {
  const path = await lockPath();
  const gone: Holder = { pid: await pidOfTheDead(), startedAt: "1", socketFolder: "/tmp/left" };
  await writeFile(path, JSON.stringify(gone));
  const lock = await take(path);
  expect(lock.abandonedBy).toEqual(gone);
  expect(JSON.parse(await readFile(path, "utf8"))).toMatchObject({ pid: process.pid });
});

test("a later process with the pid of the holder is not taken for the holder", async () => {
  const path = await lockPath();
  await writeFile(path, JSON.stringify({ pid: process.pid, startedAt: "1" }));
  expect((await take(path)).abandonedBy).toEqual({ pid: process.pid, startedAt: "1" });
});

test.each(["", "{", "null", '{"pid":"1"}', "\0\0\0\0"])("a lock file that holds %j is nobody's", async (content) => {
  const path = await lockPath();
  await writeFile(path, content);
  expect((await take(path)).abandonedBy).toBeUndefined();
});

test("of many that find the same abandoned lock exactly one gets it, time and again", async () => {
  const path = await lockPath();
  for (let round = 0; round < 50; round += 1) {
    await writeFile(path, JSON.stringify({ pid: process.pid, startedAt: `${round}` }));
    const locks = await Promise.all(Array.from({ length: 8 }, () => lockFile(path)));
    expect(locks.filter((lock) => "release" in lock)).toHaveLength(1);
  }
  expect(await readdir(join(path, ".."))).toEqual(["lock"]);
});

test("processes that take turns under one lock never hold it at once, whoever of them is killed", async () => {
  const path = await lockPath();
  const marks = join(path, "..", "marks");
  await mkdir(marks);
  const source = new URL("../../dist/database/fileLock.js", import.meta.url).href;
  // Each takes the lock, makes sure that it is alone by a folder that only one can make, and dies or releases.
  const script = `
    import { lockFile } from ${JSON.stringify(source)};
    import { mkdirSync, rmdirSync } from "node:fs";
    for (let done = 0; done < 20; ) {
      const lock = await lockFile(process.argv[1]);
      if (!("release" in lock)) { await new Promise((r) => setTimeout(r, 1)); continue; }
      mkdirSync(process.argv[2]); rmdirSync(process.argv[2]);
      if (++done === 20 && process.argv[3] === "dies") process.kill(process.pid, "SIGKILL");
      await lock.release();
    }`;
  const ends = ["dies", "ends", "dies", "ends", "dies"].map(
    (how) =>
      new Promise<string>((resolve) => {
        const child = spawn(process.execPath, ["--input-type=module", "-e", script, path, join(marks, "alone"), how]);
        child.once("exit", (code, signal) => resolve(signal ?? String(code)));
      }),
  );
  expect((await Promise.all(ends)).toSorted()).toEqual(["0", "0", "SIGKILL", "SIGKILL", "SIGKILL"]);
  await (await take(path)).release();
});
