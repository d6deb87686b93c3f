// @tier all
import { readdir, readFile, rename, rm, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { create } from "tar";
import { describe, expect, onTestFinished, test } from "vitest";
import { readConfig } from "../../../../src/config.js";
import { failureOf } from "../../../../src/database/embedded/damage.js";
import { openDatabase } from "../../../../src/database/open.js";
import { storeAt } from "../../../support/app.js";
import { within } from "../../../support/busy.js";
import { ofTest } from "../../../support/citus/recording.js";
import { cli, cliJson } from "../../../support/process/cli.js";
import {
  endOf,
  migratedPlaceForTest,
  type Place,
  placeWithStoreForTest,
  serve,
  vitrine,
} from "../../../support/process.js";
import { bulk, paths, product, products } from "../../../support/products.js";

const advice = "Restore a backup with npx vitrine restore FILE, or move the folder away to start anew.";

function refusal({ dataDir }: Place, words: RegExp) {
  const problem = `The embedded database in ${join(dataDir, "postgres")} cannot be used: its files are damaged, or of another version.`;
  return expect.stringMatching(new RegExp(`^vitrine: ${problem} \\(${words.source}\\) ${advice}\n$`, "u"));
}

/** Other bytes in the place of those of a file, as many. */
async function garble(path: string): Promise<void> {
  const bytes = await readFile(path);
  await writeFile(
    path,
    bytes.map((byte, index) => byte * 7 + 13 + index),
  );
}

async function segmentsOf(folder: string): Promise<string[]> {
  const names = (await readdir(join(folder, "pg_wal"))).filter((name) => /^[\dA-F]{24}$/u.test(name));
  return names.map((name) => join(folder, "pg_wal", name));
}

type Damage = (folder: string) => Promise<unknown>;
const kinds: readonly (readonly [name: string, words: RegExp, damage: Damage])[] = [
  ["pg_control that is empty", /could not read file .+/u, (folder) => truncate(join(folder, "global", "pg_control"))],
  [
    "pg_control of zeroes",
    /database files are incompatible with server: .+/u,
    (folder) => writeFile(join(folder, "global", "pg_control"), Buffer.alloc(8_192)),
  ],
  [
    "no pg_wal",
    /required WAL directory "pg_wal" does not exist/u,
    (folder) => rm(join(folder, "pg_wal"), { recursive: true }),
  ],
  [
    "no segment of the log",
    /could not locate a valid checkpoint record .+/u,
    async (folder) => {
      for (const path of await segmentsOf(folder)) await rm(path);
    },
  ],
  [
    "garbled segments of the log",
    /could not locate a valid checkpoint record .+/u,
    async (folder) => {
      for (const path of await segmentsOf(folder)) await garble(path);
    },
  ],
  [
    "a catalog that is empty",
    /could not open critical system index .+/u,
    (folder) => truncate(join(folder, "base", "5", "1259")),
  ],
  [
    "a catalog that is cut",
    /pg_attribute catalog is missing .+/u,
    (folder) => truncate(join(folder, "base", "5", "1249"), 8_192),
  ],
  [
    "a garbled catalog",
    /invalid page in block \d+ of relation "base\/5\/1255"/u,
    (folder) => garble(join(folder, "base", "5", "1255")),
  ],
  [
    "no folder base",
    /database "postgres" does not exist: The database subdirectory "base\/5" is missing\./u,
    (folder) => rm(join(folder, "base"), { recursive: true }),
  ],
  [
    "no pg_xact",
    /could not access status of transaction \d+: .+/u,
    (folder) => rm(join(folder, "pg_xact"), { recursive: true }),
  ],
  [
    "no configuration",
    /could not access the server configuration file "postgresql.conf": .+/u,
    (folder) => rm(join(folder, "postgresql.conf")),
  ],
  [
    "PG_VERSION of another version",
    /database files are incompatible with server: .+ PostgreSQL version 17, .+/u,
    (folder) => writeFile(join(folder, "PG_VERSION"), "17\n"),
  ],
  ["no PG_VERSION", /PG_VERSION is missing/u, (folder) => rm(join(folder, "PG_VERSION"))],
];

test.each(kinds)(
  "%s: a command says at once which folder is damaged and what to do, with a status of its own",
  async (_, words, damage) => {
    const place = await migratedPlaceForTest();
    const folder = join(place.dataDir, "postgres");
    await damage(folder);
    const before = await readdir(folder);
    const begun = performance.now();
    expect(await cli(["store", "list"], place.env)).toEqual({ status: 5, stdout: "", stderr: refusal(place, words) });
    expect(performance.now() - begun).toBeLessThan(within(10_000));
    expect(
      (await readdir(folder)).filter((name) => name !== "postmaster.pid"),
      "nothing was made anew",
    ).toEqual(before);
    expect(await readdir(place.dataDir)).toEqual(["postgres"]);
  },
);

test("a server that starts on damaged files ends the same way, and doctor fails with the same words", async () => {
  const place = await migratedPlaceForTest();
  await truncate(join(place.dataDir, "postgres", "global", "pg_control"));
  const words = /could not read file "global\/pg_control": read 0 of \d+/u;
  expect(await vitrine(["serve"], { ...place.env, PORT: "0" })).toEqual({
    status: 5,
    stdout: "",
    stderr: refusal(place, words),
  });
  const { checks } = JSON.parse((await cli(["doctor", "--json"], place.env)).stdout);
  expect(checks).toContainEqual({
    name: "database",
    status: "failed",
    detail: expect.stringMatching(words),
    advice,
  });
});

test("after the folder was moved away, or a backup restored over it, everything works", async () => {
  const place = await migratedPlaceForTest();
  const backup = join(place.temporary, "vitrine.backup");
  await cliJson(["store", "create", "acme"], place.env);
  await cliJson(["backup", backup], place.env);
  await rm(join(place.dataDir, "postgres", "pg_wal"), { recursive: true });
  expect((await cli(["store", "list"], place.env)).status).toBe(5);
  await cliJson(["restore", backup, "--yes"], place.env);
  expect((await cliJson(["store", "list"], place.env)).stores).toMatchObject([{ store: "acme" }]);
  await rename(join(place.dataDir, "postgres"), join(place.temporary, "moved"));
  expect((await cliJson(["store", "list"], place.env)).stores).toEqual([]);
});

test("a backup whose database is damaged is refused, with PostgreSQL's words, and nothing is changed", async () => {
  const place = await migratedPlaceForTest();
  const [folder, file] = [join(place.dataDir, "postgres"), join(place.temporary, "damaged.backup")];
  await rename(join(folder, "pg_wal"), join(place.temporary, "pg_wal"));
  await create({ cwd: folder, file, gzip: { level: 1 } }, ["."]);
  await rename(join(place.temporary, "pg_wal"), join(folder, "pg_wal"));
  expect(await cli(["restore", file, "--yes"], place.env)).toEqual({
    status: 1,
    stdout: "",
    stderr: `vitrine: The database of ${file} cannot be opened by this version. (required WAL directory "pg_wal" does not exist)\n`,
  });
  expect((await cliJson(["store", "list"], place.env)).stores).toEqual([]);
});

test("damage that a statement meets: a command ends the same way", async () => {
  const place = await placeWithStoreForTest();
  await garble(join(place.dataDir, "postgres", await fileOf(place, '"Store"')));
  expect(await cli(["store", "list"], place.env)).toEqual({
    status: 5,
    stdout: "",
    stderr: refusal(place, /invalid page in block 0 of relation "base\/5\/\d+"/u),
  });
});

describe("while it serves", () => {
  const token = "vt_test-of-damage";

  test("where the engine cannot go on, the server ends with the line that says what to do", async () => {
    const place = await placeWithStoreForTest();
    const server = await serve({ ...place.env, DEMO_TOKEN: token, DEMO_TRAFFIC: "false", LOG_LEVEL: "fatal" });
    onTestFinished(() => void server.process.kill("SIGKILL"));
    const store = storeAt(server.url, { id: "demo", token });
    await rm(join(place.dataDir, "postgres", "pg_wal"), { recursive: true });
    const answers = new Set<number>();
    for (let round = 0; server.process.exitCode === null; round += 1) {
      const rows = products(2_000, () => ({ title: `Of round ${round}` }));
      const answer = await store.post(paths.bulk, bulk(rows)).catch(() => undefined); // it may end first
      if (answer !== undefined) answers.add(answer.status);
    }
    expect(await endOf(server)).toMatchObject({
      status: 5,
      stderr: refusal(place, /could not (?:open|create) file "pg_wal\/.+": No such file or directory/u),
    });
    expect([...answers].filter((status) => status !== 200 && status !== 503)).toEqual([]);
  });

  test("where a table cannot be read, its requests get 503, all others are served, and one line of the log says so", async () => {
    const place = await placeWithStoreForTest();
    const env = { ...place.env, DEMO_TOKEN: token, DEMO_TRAFFIC: "false", LOG_LEVEL: "error" };
    const first = await serve(env);
    const before = storeAt(first.url, { id: "demo", token });
    expect((await before.post(paths.bulk, bulk([product("p-1")]))).status).toBe(200);
    expect((await first.stop()).status).toBe(0);
    await garble(join(place.dataDir, "postgres", await fileOf(place, '"Product"')));

    const server = await serve(env);
    onTestFinished(() => void server.process.kill("SIGKILL"));
    const store = storeAt(server.url, { id: "demo", token });
    for (let n = 0; n < 3; n += 1) {
      expect(await store.get(paths.of("p-1"))).toMatchObject({
        status: 503,
        body: { detail: "The files of the database are damaged. Nothing was changed." },
      });
    }
    expect((await store.get("/external/analytics/v1/live-streams")).status).toBe(200);
    const { status, stderr } = await server.stop();
    expect(status).toBe(0);
    const lines = stderr
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as unknown);
    expect(lines).toEqual([
      expect.objectContaining({
        fault: "damaged",
        sqlState: "XX001",
        err: expect.stringMatching(/^invalid page in block 0 of relation "base\/5\/\d+"$/u),
      }),
    ]);
  });
});

test.each([
  ["out of memory (53200)", /^The embedded database stopped: out of memory \(53200\)$/u],
  ["terminating connection due to administrator command (57P01)", /^The embedded database stopped: /u],
  ["Cannot find module", /^The embedded database stopped: Cannot find module$/u],
  [
    'could not open file "global/pg_control": Permission denied (42501)',
    /^The data folder \/data cannot be used: this user may not write there; .+ \(EACCES\)\.$/u,
  ],
  ['could not open file "pg_wal": Read-only file system (58030)', /the file system is read-only; .+ \(EROFS\)\.$/u],
])("what is not of the files is not called damage: %s", (message, expected) => {
  const error = failureOf("/data", new Error(message));
  expect([error.name, error.message]).not.toContain("DamagedDatabaseError");
  expect(error.message).toMatch(expected);
});

/** The path of a table or index in the folder of the database. */
async function fileOf({ env }: Place, name: string): Promise<string> {
  const database = await openDatabase(readConfig(env), "shared", () => undefined);
  const [row] = await database.client.$queryRawUnsafe<{ path: string }[]>(
    ofTest(`SELECT pg_relation_filepath('${name}') AS path`),
  );
  await database.client.$executeRawUnsafe(ofTest("CHECKPOINT"));
  await database.close();
  const { path = "" } = row ?? {};
  expect((await stat(join(env["DATA_DIR"] ?? "", "postgres", path))).size).toBeGreaterThan(0);
  return path;
}
