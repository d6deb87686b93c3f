// @tier all
import { once } from "node:events";
import {
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rename,
  stat,
  symlink,
  truncate,
  writeFile,
} from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { gunzipSync, gzipSync } from "node:zlib";
import { create } from "tar";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { readConfig } from "../../../../src/config.js";
import { openDatabase } from "../../../../src/database/open.js";
import { storeAt } from "../../../support/app.js";
import { cli, cliJson } from "../../../support/process/cli.js";
import { copyFolder } from "../../../support/run/copyFolder.js";
import {
  endOf,
  makeMigratedPlace,
  migratedPlaceForTest,
  type Place,
  placeForTest,
  placeWithStoreForTest,
  removePlace,
  serve,
  start,
} from "../../../support/process.js";
import { until } from "../../../support/until.js";
import { bulk, paths, product } from "../../../support/products.js";

/** A file that tells a database from another: to make a store in it for that takes half a second of CPU time. */
const nameFile = ({ dataDir }: Place) => join(dataDir, "postgres", "name of a test");

/** A database named `saved`, and a backup of it. */
let saved: Place;
let backup: string;
beforeAll(async () => {
  saved = await makeMigratedPlace();
  backup = join(saved.temporary, "vitrine.backup");
  await writeFile(nameFile(saved), "saved");
  await cliJson(["backup", backup], saved.env);
  return () => removePlace(saved);
});

/** A place of a test's own with a database named `current`. */
async function currentPlace(): Promise<Place> {
  const place = await migratedPlaceForTest();
  await writeFile(nameFile(place), "current");
  return place;
}

/** Runs a command, which opens the database. @returns the name of what it opened */
async function openedBy(place: Place): Promise<string> {
  await cliJson(["store", "list"], place.env);
  return readFile(nameFile(place), "utf8");
}

test("a backup during imports is consistent: each import is in it completely or not at all", async () => {
  const place = await placeWithStoreForTest();
  const server = await serve({ ...place.env, DEMO_TOKEN: "the-token-of-the-demo" });
  onTestFinished(async () => void (await server.stop("SIGKILL")));
  const store = storeAt(server.url, { id: "demo", token: "the-token-of-the-demo" });
  const file = join(place.temporary, "vitrine.backup");
  let imported = 0;
  const done = new AbortController();
  const importing = (async () => {
    for (let n = 0; !done.signal.aborted; n += 1) {
      const { status } = await store.post(paths.bulk, bulk([product(`a-${n}`), product(`b-${n}`)]));
      if (status === 200) imported = n + 1;
    }
  })();
  await until(() => imported >= 5, "some imports");
  const before = imported;
  const { bytes } = await cliJson(["backup", file], place.env);
  const after = imported;
  done.abort();
  await importing;
  const { size, mode } = await stat(file);
  expect([size, mode & 0o777]).toEqual([bytes, 0o600]);
  expect(await cli(["restore", file, "--yes"], place.env)).toEqual({
    status: 4,
    stdout: "",
    stderr: `vitrine: ${place.dataDir} is in use by process ${server.pid}. Stop it before restoring.\n`,
  });
  expect((await store.get(paths.of(`a-${imported - 1}`))).status).toBe(200);
  const copy = await placeForTest();
  expect(await cliJson(["restore", file], copy.env)).toMatchObject({ file, dataDir: copy.dataDir, previous: null });
  const database = await openDatabase(readConfig(copy.env), "shared", () => undefined);
  const count = (prefix: string) => database.client.product.count({ where: { id: { startsWith: prefix } } });
  const [a, b] = [await count("a-"), await count("b-")];
  await database.close();
  expect([a, b]).toEqual([a, a]);
  expect(a).toBeGreaterThanOrEqual(before);
  expect(a).toBeLessThanOrEqual(after + 1);
});

test("a restore asks for confirmation and replaces the database, which is kept until the next one", async () => {
  const place = await currentPlace();
  const at = (name: string) => join(place.dataDir, name);
  await mkdir(at("before-restore")); // of an earlier restore
  const unconfirmed = await cli(["restore", backup], place.env);
  expect(unconfirmed).toMatchObject({ status: 2, stderr: expect.stringContaining("Confirm with --yes") });
  expect(await cliJson(["restore", backup, "--yes"], place.env)).toMatchObject({ previous: at("before-restore") });
  expect((await readdir(place.dataDir)).toSorted()).toEqual(["before-restore", "postgres"]);
  expect(await openedBy(place)).toBe("saved");
  const kept = await placeForTest();
  await rename(at("before-restore"), join(kept.dataDir, "postgres"));
  expect(await openedBy(kept)).toBe("current");
});

test("a restore that was killed leaves the old database or the restored one, and is completed by the next process", async () => {
  const place = await currentPlace();
  const running = start(["restore", backup, "--yes"], place.env);
  await Promise.race([sleep(1_500), running.ended]); // at any moment
  running.process.kill("SIGKILL");
  await endOf(running);
  expect(["current", "saved"]).toContain(await openedBy(place));
  // Between the two renames.
  const at = (name: string) => join(place.dataDir, name);
  await copyFolder(join(saved.dataDir, "postgres"), at("restored"));
  await rename(at("postgres"), at("moved"));
  expect(await openedBy(place)).toBe("saved");
});

test("an incomplete backup is refused, and the database stays", async () => {
  const place = await currentPlace();
  const file = join(place.temporary, "bad.backup");
  const whole = await readFile(backup);
  const tar = gunzipSync(whole);
  const outside = Buffer.from(tar);
  outside.write("../", 0);
  const damaged = Buffer.from(tar);
  damaged[100] = 0x39;
  const archiveOf = async (...names: string[]) => {
    const cwd = await mkdtemp(join(place.temporary, "archive-"));
    for (const name of names) await (name === "link" ? symlink("/etc", join(cwd, name)) : mkdir(join(cwd, name)));
    await create({ cwd, file: join(cwd, "archive"), gzip: true }, names);
    return readFile(join(cwd, "archive"));
  };
  const compressed = (content: Buffer) => gzipSync(content, { level: 0 }); // how well is not the point, and takes seconds
  const notBackup = `${file} is not a backup, or it is damaged.`;
  for (const [content, reason] of [
    [Buffer.from("no archive"), notBackup],
    [whole.subarray(0, whole.length - 100), notBackup],
    [compressed(tar.subarray(0, tar.length / 2)), notBackup],
    [compressed(outside), notBackup],
    [compressed(damaged), notBackup],
    [compressed(Buffer.alloc(1_024)), notBackup],
    [await archiveOf("other"), `${file} has no database.`],
    [await archiveOf("postgres", "link"), notBackup],
  ] as const) {
    await writeFile(file, content);
    const ended = await cli(["restore", file, "--yes"], place.env);
    expect(ended).toEqual({ status: 1, stdout: "", stderr: `vitrine: ${reason}\n` });
  }
  await truncate(file);
  expect((await cli(["restore", file, "--yes"], place.env)).status).toBe(1);
  expect((await cli(["restore", `${file}.missing`, "--yes"], place.env)).stderr).toBe(
    `vitrine: There is no file ${file}.missing.\n`,
  );
  expect(await readdir(place.dataDir)).toEqual(["postgres"]);
  expect(await openedBy(place)).toBe("current");
});

test("a backup without an embedded database, or into a folder that is missing, is refused and leaves nothing", async () => {
  const place = await placeForTest();
  const file = join(place.temporary, "a.backup");
  expect((await cli(["backup", file], place.env)).stderr).toBe(
    `vitrine: There is no embedded database in ${place.dataDir}.\n`,
  );
  const env = { ...place.env, DATABASE_URL: "postgres://127.0.0.1:1/none" };
  const reason = "DATABASE_URL is set: use pg_dump and pg_restore. This is for the embedded database.";
  for (const command of ["backup", "restore"]) {
    expect(await cli([command, file], env)).toEqual({ status: 1, stdout: "", stderr: `vitrine: ${reason}\n` });
  }
  const folder = join(saved.temporary, "missing");
  expect(await cli(["backup", join(folder, "a.backup")], saved.env)).toEqual({
    status: 1,
    stdout: "",
    stderr: `vitrine: ${folder}/a.backup cannot be written: there is no folder ${folder}.\n`,
  });
  expect([await readdir(place.dataDir), await readdir(place.temporary)]).toEqual([[], []]);
  expect(await readdir(saved.temporary)).toEqual(["vitrine.backup"]);
});

test("a backup replaces files, through links too, but neither folders nor sockets", async () => {
  const place = await placeForTest();
  const at = (name: string) => join(place.temporary, name);
  await writeFile(at("older"), "older");
  await symlink(at("older"), at("link"));
  await cliJson(["backup", at("link")], saved.env);
  expect(await readlink(at("link"))).toBe(at("older"));
  expect((await stat(at("older"))).size).toBeGreaterThan(1_000_000);

  await mkdir(at("folder"));
  const server = createServer().listen(at("socket"));
  await once(server, "listening");
  onTestFinished(() => void server.close());
  for (const target of [at("folder"), at("socket")]) {
    const stderr = `vitrine: ${target} is not a file that can be replaced.\n`;
    expect(await cli(["backup", target], saved.env)).toEqual({ status: 1, stdout: "", stderr });
  }
  expect((await readdir(place.temporary)).toSorted()).toEqual(["folder", "link", "older", "socket"]);
});

test("a backup whose server is killed meanwhile says to run it again, and leaves no file", async () => {
  const place = await placeWithStoreForTest();
  const { process: server } = await serve(place.env);
  const folder = join(place.temporary, "backups");
  await mkdir(folder);
  const ending = cli(["backup", join(folder, "a.backup")], place.env);
  await until(async () => (await readdir(folder)).some((name) => name.endsWith(".copy")), "the backup to begin");
  server.kill("SIGSTOP"); // it answers no query any more, and ends within one
  await sleep(300); // nothing tells that the backup waits for it
  server.kill("SIGKILL");
  const { status, stderr } = await ending;
  expect([status, stderr]).toEqual([
    4,
    expect.stringMatching(/^vitrine: The database did not stay available during the backup: run it again\. \(.*\)\n$/u),
  ]);
  expect(await readdir(folder)).toEqual([]);
});
