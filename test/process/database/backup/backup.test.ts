// @tier all
import { mkdir, readdir, readlink, stat, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { create } from "tar";
import { beforeAll, expect, test } from "vitest";
import { createIdentify, issueToken } from "../../../../src/stores/token.js";
import { createStore } from "../../../../src/stores/store.js";
import { revokeToken } from "../../../../src/stores/token.replace.js";
import { readConfig } from "../../../../src/config.js";
import type { RootDatabase } from "../../../../src/database/client.js";
import { openDatabase } from "../../../../src/database/open.js";
import { storeAt } from "../../../support/app.js";
import { cli, cliJson } from "../../../support/process/cli.js";
import {
  makeMigratedPlace,
  makePlaceWithStore,
  type Place,
  placeForTest,
  removePlace,
  serve,
  type Serving,
} from "../../../support/process.js";
import { until } from "../../../support/until.js";
import { bulk, paths, product } from "../../../support/products.js";

async function inDatabase<Result>({ env }: Place, work: (db: RootDatabase) => Promise<Result>): Promise<Result> {
  const database = await openDatabase(readConfig(env), "shared", () => undefined);
  try {
    return await work(database.client);
  } finally {
    await database.close();
  }
}

let place: Place;
let server: Serving;
let current: Place;
beforeAll(async () => {
  place = await makePlaceWithStore();
  server = await serve({ ...place.env, DEMO_TOKEN: "the-token-of-the-demo" });
  current = await makeMigratedPlace();
  return async () => {
    server.process.kill("SIGKILL");
    await removePlace(place);
    await removePlace(current);
  };
});

test("a backup during imports is consistent: each import is in it completely or not at all; it replaces the file of a link", async () => {
  const store = storeAt(server.url, { id: "demo", token: "the-token-of-the-demo" });
  const [file, link] = [join(place.temporary, "older"), join(place.temporary, "vitrine.backup")];
  await writeFile(file, "older");
  await symlink(file, link);
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
  const { bytes } = await cliJson(["backup", link], place.env);
  const after = imported;
  done.abort();
  await importing;
  const { size, mode } = await stat(file);
  expect([size, mode & 0o777, await readlink(link)]).toEqual([bytes, 0o600, file]);
  expect(await readdir(place.temporary)).toEqual(expect.arrayContaining(["older", "vitrine.backup"]));
  expect(await cli(["restore", link, "--yes"], place.env)).toEqual({
    status: 4,
    stdout: "",
    stderr: `vitrine: ${place.dataDir} is in use by process ${server.pid}. Stop it before restoring.\n`,
  });
  const copy = await placeForTest();
  expect(await cliJson(["restore", link], copy.env)).toMatchObject({ dataDir: copy.dataDir, previous: null });
  const count = (db: RootDatabase, prefix: string) => db.product.count({ where: { id: { startsWith: prefix } } });
  const [a, b] = await inDatabase(copy, async (db) => [await count(db, "a-"), await count(db, "b-")] as const);
  expect(a).toBe(b);
  expect(a).toBeGreaterThanOrEqual(before);
  expect(a).toBeLessThanOrEqual(after + 1);
});

test("a backup whose server is killed meanwhile says to run it again, and leaves no file", async () => {
  const folder = join(place.temporary, "backups");
  await mkdir(folder);
  const ending = cli(["backup", join(folder, "a.backup")], place.env);
  await until(async () => (await readdir(folder)).some((name) => name.endsWith(".copy")), "the backup to begin");
  server.process.kill("SIGKILL");
  const { status, stderr } = await ending;
  expect([status, stderr]).toEqual([
    4,
    expect.stringMatching(/^vitrine: The database did not stay available during the backup: run it again\. \(.*\)\n$/u),
  ]);
  expect(await readdir(folder)).toEqual([]);
});

/** Of the token of a store in the database that is restored; made by the next test. */
const access = { backup: "", token: "", id: "" };
const works = (token: string) =>
  inDatabase(current, (db) =>
    createIdentify(db)(token).then(
      () => true,
      () => false,
    ),
  );

test("a restore tells which tokens were revoked since, on a terminal as one line each, asks for confirmation, and keeps what it replaces", async () => {
  access.backup = join(current.temporary, "vitrine.backup");
  const hostile = "sync\u001b]52;c;cm0gLXJm\u0007\nvitrine: done"; // writes to the clipboard of a terminal, and begins a line
  const issued = await inDatabase(current, async (db) => {
    await createStore(db, "acme", "acme");
    return issueToken(db, "acme", { label: hostile });
  });
  Object.assign(access, { token: issued.token, id: issued.id });
  await cliJson(["backup", access.backup], current.env);
  const revokedAt = await inDatabase(current, async (db) => (await revokeToken(db, "acme", issued.id)).revokedAt);
  await mkdir(join(current.dataDir, "before-restore")); // of an earlier restore

  const { status, stdout, stderr } = await cli(["restore", access.backup], current.env);
  expect([status, stdout]).toEqual([2, ""]);
  const [title, line, question, ...rest] = stderr.trimEnd().split("\n");
  expect(title).toBe(
    "vitrine: 1 access token and 0 public keys were revoked, deleted or shortened since the backup and would work again. Revoke them with --revoke-all, or later one by one.",
  );
  expect(line?.trim().split(/ {2,}/u)).toEqual([
    "token",
    "acme",
    issued.id,
    String.raw`sync\u001b]52;c;cm0gLXJm\u0007\u000avitrine: done`,
    `revoked ${revokedAt?.toISOString()}`,
  ]);
  expect([question, rest]).toEqual([expect.stringContaining("Confirm with --yes"), []]);
  expect(await works(issued.token)).toBe(false);
});

test("with --yes alone they work again, which JSON tells too", async () => {
  const told = await cliJson(["restore", access.backup, "--yes"], current.env);
  expect(told).toMatchObject({
    previous: join(current.dataDir, "before-restore"),
    access: { compared: true, revoked: false, reinstated: [{ id: access.id, since: "revoked" }], dropped: [] },
  });
  expect((await readdir(current.dataDir)).toSorted()).toEqual(["before-restore", "postgres"]);
  expect(await works(access.token)).toBe(true);
});

test("a database that does not open is said to be so, and counts as none; --revoke-all revokes what works in the backup", async () => {
  await truncate(join(current.dataDir, "postgres", "global", "pg_control"));
  const unconfirmed = await cli(["restore", access.backup], current.env);
  expect(unconfirmed.status).toBe(2);
  expect(unconfirmed.stderr).toMatch(
    /^vitrine: The database to be replaced cannot be read\. .+\nvitrine: 1 access token and 0 public keys are valid in the backup, and may have been revoked since: there is no database to compare it with\. Revoke/u,
  );
  const { status, stdout } = await cli(["restore", access.backup, "--yes", "--revoke-all"], current.env);
  expect([status, stdout]).toEqual([0, expect.stringContaining(" 1 access token and 0 public keys were revoked.\n")]);
  expect((await stat(join(current.dataDir, "before-restore", "global", "pg_control"))).size).toBe(0);
  expect(await works(access.token)).toBe(false);
});

test("a backup whose database is damaged is refused, with PostgreSQL's words, and nothing is changed", async () => {
  const [folder, file] = [join(current.dataDir, "postgres"), join(current.temporary, "damaged.backup")];
  const filter = (path: string) => !path.includes("pg_wal");
  await create({ cwd: folder, file, gzip: { level: 1 }, filter }, ["."]);
  expect(await cli(["restore", file, "--yes"], current.env)).toMatchObject({
    status: 1,
    stdout: "",
    stderr: `vitrine: The database of ${file} cannot be opened by this version. (required WAL directory "pg_wal" does not exist)\n`,
  });
  expect((await cliJson(["store", "list"], current.env)).stores).toMatchObject([{ store: "acme" }]);
});
