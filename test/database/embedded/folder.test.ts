import { once } from "node:events";
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { lockFile } from "../../../src/database/embedded/fileLock.js";
import { finishRestore, lockFolder, makeFolder } from "../../../src/database/embedded/folder.js";
import { fillFolder } from "../../../src/database/embedded/embeddedEngine.js";
import { migrate } from "../../../src/database/migrations/migrate.js";
import { folderForTest } from "../../support/folder.js";
import { cli } from "../../support/process/cli.js";
import { placeForTest } from "../../support/process.js";

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
])("DATA_DIR=%s is refused", async (folder, why) => {
  await expect(lockFolder(folder)).rejects.toMatchObject(refusal(folder, why));
});

test.each([["serve"], ["token list acme"]])("%s reports it in one line and ends", async (command) => {
  const stderr = "vitrine: The data folder /proc/x cannot be used: nothing can be made there (ENOENT).\n";
  expect(await cli(command.split(" "), { DATA_DIR: "/proc/x" })).toMatchObject({ status: 1, stderr });
});

test("distribute is refused without a database being made for it", async () => {
  const { env, dataDir } = await placeForTest();
  expect(await cli(["distribute"], env)).toEqual({
    status: 1,
    stdout: "",
    stderr:
      "vitrine: This database has no Citus: there is nothing to distribute over. Run CREATE EXTENSION citus on a server that has it.\n",
  });
  expect(await readdir(dataDir)).toEqual([]);
});

test("another migration is reported and waited for, with a limit", async () => {
  const host = await folderForTest();
  await lockFile(join(host, "migrate.lock"));
  const told: string[] = [];
  const limits = { logAfterMs: 100, giveUpAfterMs: 300 };
  const waiting = migrate({ host }, ({ message }) => told.push(message), { limits });
  const holder = `another process that migrates or distributes this database: process ${process.pid}.`;
  const message = expect.stringMatching(`^Gave up after waiting \\d+ seconds for ${holder} Nothing was changed.$`);
  await expect(waiting).rejects.toMatchObject({ code: "UNAVAILABLE", message });
  expect(told).toEqual([`Waiting for ${holder}`]);
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
  for (let round = 0; round < 20; round += 1) {
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
  const { status, stderr } = await cli(["migrate"], env);
  expect({ status, stderr }).toEqual({
    status: 1,
    stderr: `vitrine: The data folder ${join(dataDir, "postgres")} cannot be used: it is a file (EEXIST).\n`,
  });
});

test("a lock that is a dangling link, a folder or a socket is refused by what it is, also to commands", async () => {
  const { dataDir, env } = await placeForTest();
  const [link, folder, socket] = ["link", "vitrine", "socket"].map((name) => join(dataDir, `${name}.lock`)) as [
    string,
    string,
    string,
  ];
  await symlink(join(dataDir, "nowhere"), link);
  await mkdir(folder);
  const server = createServer().listen(socket);
  await once(server, "listening");
  onTestFinished(() => void server.close());
  await expect(lockFile(link)).rejects.toThrow(`${link} is a dangling link: remove it.`);
  await expect(lockFile(socket)).rejects.toThrow(`${socket} is not a file, as a lock must be: remove it.`);
  const stderr = `vitrine: ${folder} is a folder, not a file, as a lock must be: remove it.\n`;
  expect(await cli(["token", "list", "acme"], env)).toMatchObject({ status: 1, stderr });
});

describe("an interrupted restore", () => {
  /** Folders of DATA_DIR, each with a file that has its name. @returns whose files are in which of them once it is finished */
  async function finished(...names: string[]): Promise<Record<string, string>> {
    const dataDir = await folderForTest();
    for (const name of names) {
      await mkdir(join(dataDir, name));
      await writeFile(join(dataDir, name, "name"), name);
    }
    await finishRestore(dataDir);
    const left = await readdir(dataDir);
    const files = left.map(async (name) => [name, await readFile(join(dataDir, name, "name"), "utf8")] as const);
    return Object.fromEntries(await Promise.all(files));
  }

  test.each([
    ["while it extracted is undone", ["postgres", "restoring"], { postgres: "postgres" }],
    [
      "before it moved the database is completed",
      ["postgres", "restored"],
      { postgres: "restored", "before-restore": "postgres" },
    ],
    [
      "between both moves is completed",
      ["before-restore", "restored"],
      { postgres: "restored", "before-restore": "before-restore" },
    ],
    [
      "replaces what an earlier one kept",
      ["postgres", "restored", "before-restore"],
      { postgres: "restored", "before-restore": "postgres" },
    ],
  ])("%s", async (_, names, left) => {
    expect(await finished(...names)).toEqual(left);
  });
});
