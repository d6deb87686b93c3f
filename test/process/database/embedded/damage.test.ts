// @tier all
import { readdir, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readConfig } from "../../../../src/config.js";
import { saveLiveStream } from "../../../../src/shows/liveStream.save.js";
import { openDatabase } from "../../../../src/database/open.js";
import { storeAt } from "../../../support/app.js";
import { ofTest } from "../../../support/citus/recording.js";
import { cli } from "../../../support/process/cli.js";
import {
  endOf,
  migratedPlaceForTest,
  type Place,
  placeWithStoreForTest,
  serve,
  vitrine,
} from "../../../support/process.js";
import { bulk, paths, products } from "../../../support/products.js";
import { analyticsPath } from "../../../support/shows.js";

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
/** In the files that the engine reads one after the other at its start. */
const kinds: readonly (readonly [name: string, words: RegExp, damage: Damage])[] = [
  ["no PG_VERSION", /PG_VERSION is missing/u, (folder) => rm(join(folder, "PG_VERSION"))],
  ["pg_control that is empty", /could not read file .+/u, (folder) => truncate(join(folder, "global", "pg_control"))],
  [
    "garbled segments of the log",
    /could not locate a valid checkpoint record .+/u,
    async (folder) => {
      for (const path of await segmentsOf(folder)) await garble(path);
    },
  ],
  [
    "no folder base",
    /database "postgres" does not exist: The database subdirectory "base\/5" is missing\./u,
    (folder) => rm(join(folder, "base"), { recursive: true }),
  ],
  [
    "a garbled catalog",
    /invalid page in block \d+ of relation "base\/5\/1255"/u,
    (folder) => garble(join(folder, "base", "5", "1255")),
  ],
];

test.each(kinds)(
  "%s: a command says at once which folder is damaged and what to do, with a status of its own",
  async (_, words, damage) => {
    const place = await migratedPlaceForTest();
    const folder = join(place.dataDir, "postgres");
    await damage(folder);
    const before = await readdir(folder);
    expect(await cli(["store", "list"], place.env)).toEqual({ status: 5, stdout: "", stderr: refusal(place, words) });
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

test("damage that a statement meets: a command ends the same way", async () => {
  const place = await placeWithStoreForTest();
  await garble(join(place.dataDir, "postgres", await fileOf(place, '"Store"')));
  expect(await cli(["store", "list"], place.env)).toEqual({
    status: 5,
    stdout: "",
    stderr: refusal(place, /invalid page in block 0 of relation "base\/5\/\d+"/u),
  });
});

test("while it serves: where a table cannot be read, its requests get 503 and all others are served; where the engine cannot go on, the server ends with the line that says what to do", async () => {
  const token = "vt_test-of-damage";
  const place = await placeWithStoreForTest();
  const env = { ...place.env, DEMO_TOKEN: token, DEMO_TRAFFIC: "false", LOG_LEVEL: "error" };
  const database = await openDatabase(readConfig(place.env), "shared", () => undefined);
  await saveLiveStream(database.client, "demo", { id: "show", name: "Show", status: "LIVE", startedAt: new Date(0) });
  await database.close();
  await garble(join(place.dataDir, "postgres", await fileOf(place, '"LiveStream"')));

  const server = await serve(env);
  onTestFinished(() => void server.process.kill("SIGKILL"));
  const store = storeAt(server.url, { id: "demo", token });
  for (let n = 0; n < 3; n += 1) {
    expect(await store.get(analyticsPath("show"))).toMatchObject({
      status: 503,
      body: { detail: "The files of the database are damaged. Nothing was changed." },
    });
  }
  expect((await store.get("/external/product/v1")).status).toBe(200);
  const lines = server.stderr().trim().split("\n");
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    expect.objectContaining({
      fault: "damaged",
      sqlState: "XX001",
      err: expect.stringMatching(/^invalid page in block 0 of relation "base\/5\/\d+"$/u),
    }),
  ]);

  await rm(join(place.dataDir, "postgres", "pg_wal"), { recursive: true });
  for (let round = 0; server.process.exitCode === null; round += 1) {
    const rows = products(2_000, () => ({ title: `Of round ${round}` }));
    const answer = await store.post(paths.bulk, bulk(rows)).catch(() => undefined); // it may end first
    expect([200, 503, undefined]).toContain(answer?.status);
  }
  const { status, stderr } = await endOf(server);
  expect({ status, stderr: stderr.slice(stderr.indexOf("vitrine: ")) }).toEqual({
    status: 5,
    stderr: refusal(place, /could not (?:open|create) file "pg_wal\/.+": No such file or directory/u),
  });
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
