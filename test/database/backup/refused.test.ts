import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, symlink, truncate, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { create } from "tar";
import { expect, onTestFinished, test } from "vitest";
import { cli } from "../../support/process/cli.js";
import { type Place, placeForTest } from "../../support/process.js";

/** A place that seems to have a database, which nothing opens. */
async function placeWithFolder(): Promise<Place> {
  const place = await placeForTest();
  await mkdir(join(place.dataDir, "postgres"));
  await writeFile(join(place.dataDir, "postgres", "PG_VERSION"), "18\n");
  return place;
}

async function archiveOf({ temporary }: Place, ...names: string[]): Promise<Buffer> {
  const cwd = await mkdtemp(join(temporary, "archive-"));
  for (const name of names) {
    if (name === "link") await symlink("/etc", join(cwd, name));
    else await writeFile(join(cwd, name), name.repeat(1_000));
  }
  await create({ cwd, file: join(cwd, "archive"), gzip: true }, names);
  return readFile(join(cwd, "archive"));
}

test("a file that is no complete backup is not restored, and the database stays", async () => {
  const place = await placeWithFolder();
  const file = join(place.temporary, "bad.backup");
  const whole = await archiveOf(place, "PG_VERSION", "other");
  const tar = gunzipSync(whole);
  const outside = Buffer.from(tar);
  outside.write("../", 0);
  const damaged = Buffer.from(tar);
  damaged[100] = 0x39;
  const kinds: Readonly<Record<string, Buffer>> = {
    "no archive": Buffer.from("no archive"),
    "the end is missing": whole.subarray(0, whole.length - 20),
    "half an archive": gzipSync(tar.subarray(0, tar.length / 2)),
    "a path that leads outside": gzipSync(outside),
    "a damaged header": gzipSync(damaged),
    "nothing but zeroes": gzipSync(Buffer.alloc(1_024)),
    "a link": await archiveOf(place, "PG_VERSION", "link"),
  };
  const found: Record<string, unknown> = {};
  for (const [kind, content] of Object.entries(kinds)) {
    await writeFile(file, content);
    found[kind] = await cli(["restore", file, "--yes"], place.env);
  }
  const refused = { status: 1, stdout: "", stderr: `vitrine: ${file} is not a backup, or it is damaged.\n` };
  expect(found).toEqual(Object.fromEntries(Object.keys(kinds).map((kind) => [kind, refused])));
  await truncate(file);
  expect((await cli(["restore", file, "--yes"], place.env)).status).toBe(1);
  expect((await cli(["restore", `${file}.missing`, "--yes"], place.env)).stderr).toBe(
    `vitrine: There is no file ${file}.missing.\n`,
  );
  expect(await readdir(place.dataDir)).toEqual(["postgres"]);
  expect(await readdir(join(place.dataDir, "postgres"))).toEqual(["PG_VERSION"]);

  const empty = await placeForTest();
  await writeFile(file, await archiveOf(place, "other"));
  const { status, stderr } = await cli(["restore", file], empty.env);
  expect([status, stderr]).toEqual([1, `vitrine: ${file} has no database.\n`]);
  expect(await readdir(empty.dataDir)).toEqual([]);
});

test("a backup without an embedded database is refused, and leaves nothing", async () => {
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
  expect([await readdir(place.dataDir), await readdir(place.temporary)]).toEqual([[], []]);
});

test("a backup into a missing folder, or in the place of a folder or a socket, is refused", async () => {
  const { env, temporary } = await placeWithFolder();
  const at = (name: string) => join(temporary, name);
  await mkdir(at("folder"));
  const server = createServer().listen(at("socket"));
  await once(server, "listening");
  onTestFinished(() => void server.close());
  for (const [target, reason] of [
    [at("missing/a.backup"), `cannot be written: there is no folder ${at("missing")}.`],
    [at("folder"), "is not a file that can be replaced."],
    [at("socket"), "is not a file that can be replaced."],
  ] as const) {
    const stderr = `vitrine: ${target} ${reason}\n`;
    expect(await cli(["backup", target], env)).toEqual({ status: 1, stdout: "", stderr });
  }
  expect((await readdir(temporary)).toSorted()).toEqual(["folder", "socket"]);
});
