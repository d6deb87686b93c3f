// @tier all
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type FileLock, lockFile, readHolder } from "../../../src/database/embedded/fileLock.js";
import type { Holder } from "../../../src/database/embedded/holder.js";
import { within } from "../../support/busy.js";
import { endOf, placeForTest, start } from "../../support/process.js";
import { until } from "../../support/until.js";

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
  const gone: Holder = { pid: await pidOfTheDead(), startedAt: "1", socketFolder: "/tmp/left" };
  await writeFile(path, JSON.stringify(gone));
  const lock = await take(path);
  expect(lock.abandonedBy).toEqual(gone);
  expect(JSON.parse(await readFile(path, "utf8"))).toMatchObject({ pid: process.pid });
});

test.runIf(process.platform === "linux")(
  "a zombie holds no lock: it has ended, though its parent has not noticed",
  async () => {
    const parent = spawn("sh", ["-c", "sleep 0.1 & echo $!; exec sleep 60"]); // which never waits for the child of its shell
    onTestFinished(() => void parent.kill("SIGKILL"));
    const [printed] = (await once(parent.stdout, "data")) as [Buffer];
    const pid = Number(String(printed));
    const statOfChild = async () => (await readFile(`/proc/${pid}/stat`, "utf8")).split(") ")[1]?.split(" ") ?? [];
    await until(async () => (await statOfChild())[0] === "Z", "the child to end");
    const zombie: Holder = { pid, startedAt: (await statOfChild())[19] ?? "" };
    const path = await lockPath();
    await writeFile(path, JSON.stringify(zombie));
    expect((await take(path)).abandonedBy).toEqual(zombie);
  },
);

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
  const at = new Date(Date.now() - msAgo);
  return utimes(path, at, at);
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

test("it loses its lock 15 seconds after its last heartbeat", async () => {
  const path = await lockPath();
  const holder = await lockElsewhere(path, 10_000);
  const touchedAt = (await stat(path)).mtimeMs;
  const waited: Holder[] = [];
  const lock = await lockFile(path, { onWait: (who) => void waited.push(who) });
  expect(lock).toMatchObject({ abandonedBy: holder });
  expect(waited).toEqual([holder]);
  expect(Date.now() - touchedAt).toBeGreaterThanOrEqual(15_000);
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
  const begun = Date.now();
  const lock = await lockFile(path, { onWait: () => void rm(path) });
  expect("release" in lock && lock.abandonedBy).toBeUndefined();
  expect(Date.now() - begun).toBeLessThan(within(5_000));
});

test("a holder has a heartbeat until it releases its lock, and notices when it was taken over", async () => {
  const path = await lockPath();
  const lock = await lockFile(path, { touchMs: 10 });
  if (!("release" in lock)) throw new Error("held");
  await touch(path, 60_000);
  await until(async () => Date.now() - (await stat(path)).mtimeMs < 10_000, "the lock to be touched");
  const other = await lockElsewhere(path, 60_000);
  expect((await lock.lost).message).toBe(`${path} was taken over by another process while this one was suspended.`);
  await lock.release();
  expect(await readHolder(path), "the other's lock stays").toEqual(other);
  expect(Date.now() - (await stat(path)).mtimeMs).toBeGreaterThan(50_000);
});

test("a folder in use in another container is refused to servers and commands, with its holder", async () => {
  const { env, dataDir } = await placeForTest();
  const path = join(dataDir, "vitrine.lock");
  await lockElsewhere(path, 0);
  const touching = setInterval(() => void touch(path), 500);
  onTestFinished(() => clearInterval(touching));
  const refusal = `${dataDir} is in use by process ${process.pid} in another container or on another machine, c0ffee. It is taken over 15 seconds after its last heartbeat.`;
  const [server, command] = [start(["serve"], { ...env, PORT: "0" }), start(["token", "list", "acme"], env)];
  const ends = await Promise.all([server, command].map((running) => endOf(running)));
  expect(ends).toMatchObject([{ status: 4 }, { status: 4, stdout: "" }]);
  expect(command.stderr()).toBe(`vitrine: ${refusal} Waiting for that.\nvitrine: ${refusal}\n`);
  const [waiting = "", ...refused] = server.stderr().split("\n");
  expect(JSON.parse(waiting)).toMatchObject({ level: 40, err: `${refusal} Waiting for that.` });
  expect(refused).toEqual([`vitrine: ${refusal}`, ""]);
  expect(await readdir(dataDir)).toEqual(["vitrine.lock"]);
});

test("a process that waits does not replace the lock of one that has taken the stale lock over meanwhile", async () => {
  const path = await lockPath();
  await lockElsewhere(path, 14_500);
  await (await take(`${path}.other`)).publish({ socketFolder: "/tmp/faster" });
  const text = await readFile(`${path}.other`, "utf8");
  const replace = async () => {
    const { mtime } = await stat(path);
    await utimes(`${path}.other`, mtime, mtime); // or it would be noticed as a heartbeat
    await rename(`${path}.other`, path);
  };
  let replacing: Promise<void> | undefined;
  const result = await lockFile(path, { onWait: () => void (replacing ??= replace()) });
  await replacing;
  expect(result).toMatchObject({ pid: process.pid, socketFolder: "/tmp/faster" });
  expect(await readFile(path, "utf8")).toBe(text);
});

test("exactly one of many processes takes over the same stale lock", async () => {
  const path = await lockPath();
  for (let round = 0; round < 50; round += 1) {
    await writeFile(path, JSON.stringify({ pid: process.pid, startedAt: `${round}` }));
    const locks = await Promise.all(Array.from({ length: 8 }, () => lockFile(path)));
    expect(locks.filter((lock) => "release" in lock)).toHaveLength(1);
  }
  expect(await readdir(join(path, ".."))).toEqual(["lock"]);
});

test("processes never hold one lock at the same time, even when some are killed", async () => {
  const path = await lockPath();
  const marks = join(path, "..", "marks");
  await mkdir(marks);
  const source = new URL("../../../src/database/embedded/fileLock.ts", import.meta.url).href;
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
        const child = spawn(process.execPath, [
          "--import",
          "tsx",
          "--input-type=module",
          "-e",
          script,
          path,
          join(marks, "alone"),
          how,
        ]);
        child.once("exit", (code, signal) => resolve(signal ?? String(code)));
      }),
  );
  expect((await Promise.all(ends)).toSorted()).toEqual(["0", "0", "SIGKILL", "SIGKILL", "SIGKILL"]);
  await (await take(path)).release();
});
