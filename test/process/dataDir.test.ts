import { mkdir, readdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { lockFile } from "../../src/database/embedded/fileLock.js";
import { lockFolder } from "../../src/database/embedded/folder.js";
import { placeForTest, vitrine } from "../support/process.js";

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
  expect(performance.now() - begun).toBeLessThan(1_000);
});

test("a command and a server report it in one line and end", async () => {
  const stderr = "vitrine: The data folder /proc/x cannot be used: nothing can be made there (ENOENT).\n";
  for (const command of [["serve"], ["token", "list", "acme"]]) {
    expect(await vitrine(command, { DATA_DIR: "/proc/x" })).toEqual({ status: 1, stdout: "", stderr });
  }
});

test("a folder is created with its parents, also by several processes at once", async () => {
  const { dataDir } = await placeForTest();
  const folder = join(dataDir, "not", "there", "yet");
  const locks = await Promise.all([lockFolder(folder), lockFolder(folder), lockFolder(folder)]);
  expect(await readdir(folder)).toEqual(["vitrine.lock"]);
  for (const lock of locks) if ("release" in lock) await lock.release();
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

test("a lock that is a dangling link or a folder is refused, without endless retries", async () => {
  const { dataDir } = await placeForTest();
  const [link, folder] = [join(dataDir, "link.lock"), join(dataDir, "folder.lock")];
  await symlink(join(dataDir, "nowhere"), link);
  await mkdir(folder);
  await expect(lockFile(link)).rejects.toThrow(`${link} is a link to nothing: remove it.`);
  await expect(lockFile(folder)).rejects.toMatchObject({ code: "EISDIR" });
});
