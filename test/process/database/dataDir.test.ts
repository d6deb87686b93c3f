// @tier all
import { execFile } from "node:child_process";
import { mkdir, readdir, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { readConfig } from "../../../src/config.js";
import { lockFile } from "../../../src/database/embedded/fileLock.js";
import { lockFolder, makeFolder } from "../../../src/database/embedded/folder.js";
import { fillFolder } from "../../../src/database/embedded/newDatabase.js";
import { openDatabase } from "../../../src/database/open.js";
import { within } from "../../support/busy.js";
import { migratedPlaceForTest, placeForTest, vitrine } from "../../support/process.js";

const refusal = (folder: string, why: RegExp) => ({
  name: "FolderUnusableError",
  message: expect.stringMatching(new RegExp(`^The data folder ${folder} cannot be used: ${why.source}\\.$`, "u")),
});

test.each([
  ["/proc/x", /nothing can be made there \(ENOENT\)/u],
  ["/proc/x/y/z", /nothing can be made there \(ENOENT\)/u],
  ["/sys/x", /.+ \(E(?:PERM|ACCES|ROFS|NOENT)\)/u],
  ["/proc/self", /.+ \(E(?:PERM|ACCES|NOENT)\)/u],
  ["/dev/null", /it is a file \(EEXIST\)/u],
  ["/dev/null/x", /it, or what it is in, is a file \(ENOTDIR\)/u],
])("DATA_DIR=%s is refused within a second", async (folder, why) => {
  const begun = performance.now();
  await expect(lockFolder(folder)).rejects.toMatchObject(refusal(folder, why));
  expect(performance.now() - begun).toBeLessThan(within(1_000));
});

test("a command and a server report it in one line and end", async () => {
  const stderr = "vitrine: The data folder /proc/x cannot be used: nothing can be made there (ENOENT).\n";
  for (const command of [["serve"], ["token", "list", "acme"]]) {
    expect(await vitrine(command, { DATA_DIR: "/proc/x" })).toMatchObject({ status: 1, stderr });
  }
});

test("a folder is created with its parents, also concurrently", async () => {
  const { dataDir } = await placeForTest();
  const folder = join(dataDir, "not", "there", "yet");
  const locks = await Promise.all([lockFolder(folder), lockFolder(folder), lockFolder(folder)]);
  expect(await readdir(folder)).toEqual(["vitrine.lock"]);
  for (const lock of locks) if ("release" in lock) await lock.release();
});

test("processes that create the same folders at the same time all succeed", async () => {
  const { dataDir } = await placeForTest();
  for (let round = 0; round < 50; round += 1) {
    const folder = join(dataDir, String(round), "not", "there");
    await Promise.all(Array.from({ length: 6 }, () => makeFolder(folder)));
    expect(await readdir(folder)).toEqual([]);
  }
});

test("a part of the build that is missing is named, and the folder stays empty", async () => {
  const { dataDir } = await placeForTest();
  const archive = join(dataDir, "missing.tar.gz");
  const message = `${archive} is missing. It is part of the build: run npm run build.`;
  await expect(fillFolder(dataDir, archive)).rejects.toThrow(message);
  expect(await readdir(dataDir)).toEqual([]);
});

test("a file in place of the database's own folder is refused", async () => {
  const { dataDir, env } = await placeForTest();
  await writeFile(join(dataDir, "postgres"), "");
  const { status, stderr } = await vitrine(["migrate"], env);
  expect({ status, stderr }).toEqual({
    status: 1,
    stderr: `vitrine: The data folder ${join(dataDir, "postgres")} cannot be used: it is a file (EEXIST).\n`,
  });
});

test("a lock that is a dangling link, a folder or a pipe is refused by what it is, also to servers and commands", async () => {
  const { dataDir, env } = await placeForTest();
  const [link, folder, pipe] = ["link", "vitrine", "pipe"].map((name) => join(dataDir, `${name}.lock`)) as [
    string,
    string,
    string,
  ];
  await symlink(join(dataDir, "nowhere"), link);
  await mkdir(folder);
  await promisify(execFile)("mkfifo", [pipe]);
  await expect(lockFile(link)).rejects.toThrow(`${link} is a dangling link: remove it.`);
  await expect(lockFile(pipe)).rejects.toThrow(`${pipe} is not a file, as a lock must be: remove it.`);
  const stderr = `vitrine: ${folder} is a folder, not a file, as a lock must be: remove it.\n`;
  for (const command of [["serve"], ["token", "list", "acme"]]) {
    expect(await vitrine(command, env)).toMatchObject({ status: 1, stderr });
  }
});

test("an engine whose folder was taken over is ended, and writes nothing more into it, even when it is closed", async () => {
  const { dataDir } = await migratedPlaceForTest();
  const database = await openDatabase(readConfig({ DATA_DIR: dataDir }), "exclusive", () => undefined);
  const write = () => database.client.$executeRawUnsafe("CREATE TABLE IF NOT EXISTS t (n int)");
  await write();
  const other = { pid: 1, startedAt: "1", scope: "another boot pid:[1]", hostname: "c0ffee" };
  await writeFile(join(dataDir, "vitrine.lock"), JSON.stringify(other));
  expect((await database.crashed).message).toContain("was taken over by another process");
  const outcome = () =>
    write().then(
      () => "written",
      () => "refused",
    );
  await expect.poll(outcome).toBe("refused");
  const before = await filesIn(dataDir);
  expect(before.length).toBeGreaterThan(100);
  await database.close();
  expect(await filesIn(dataDir)).toEqual(before);
});

/** All files in a folder, with their times and sizes. */
async function filesIn(folder: string): Promise<string[]> {
  const names = await readdir(folder, { recursive: true });
  const files = names.toSorted().map(async (name) => {
    const { mtimeMs, size } = await stat(join(folder, name));
    return `${name} ${mtimeMs} ${size}`;
  });
  return Promise.all(files);
}
