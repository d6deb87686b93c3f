import { randomUUID } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, inject, test } from "vitest";
import { packageVersion } from "../../src/lib/packageFiles.js";
import { cliJson } from "../support/process/cli.js";
import { toCsv } from "../support/catalog/csv.js";
import {
  endOf,
  makeSharedPlace,
  type Place,
  placeWithStoreForTest,
  removePlace,
  serve,
  start,
  vitrine,
  vitrineJson,
} from "../support/process.js";
import { product } from "../support/products.js";

// The command itself, as a process: all that needs none is in test/cli/.

let place: Place;
beforeAll(async () => {
  place = await makeSharedPlace();
  return () => removePlace(place);
});

test("serve answers with the version, and stops on SIGTERM", async () => {
  const own = await placeWithStoreForTest();
  const server = await serve({ ...own.env, DEMO_TOKEN: "a-demo-token-of-my-own" });
  const answer = await fetch(`${server.url}/healthz`);
  expect([answer.status, await answer.json()]).toEqual([200, expect.objectContaining({ status: "ok" })]);
  expect(await server.stop()).toMatchObject({ status: 0, stderr: "" });
});

test("a file is imported and exported, and each command prints one JSON object", async () => {
  const { env, temporary } = place;
  const [store, file] = [`store-${randomUUID()}`, join(temporary, "products.csv")];
  await cliJson(["store", "create", store], env);
  await writeFile(file, toCsv([product("a"), product("b")]));
  expect(await vitrineJson(["import", store, file], env)).toEqual({ store, imported: 2, created: 2, updated: 0 });
  const exported = `${file}.ndjson`;
  const exporting = start(["export", store, exported, "--json"], env);
  const { status, stdout } = await endOf(exporting);
  expect([status, JSON.parse(stdout)]).toEqual([0, { store, file: exported, format: "ndjson", products: 2 }]);
  const recorded = await readFile(join(inject("statementsFolder"), `${exporting.process.pid}.ndjson`), "utf8");
  expect(recorded, "what a process sends to its database, so that the run checks it for Citus").toContain("SELECT");
});

test.each([
  ["a failure", ["token", "list", "nobody"], {}, 1, "There is no store nobody."],
  [
    "a variable that is not valid",
    ["serve"],
    { PORT: "web" },
    2,
    expect.stringMatching(/^The environment is not valid: PORT /u),
  ],
])("the exit status is that of %s, with the reason on standard error", async (_, args, variables, status, reason) => {
  const { stderr, ...ended } = await vitrine(args, { ...place.env, ...variables });
  expect(ended).toEqual({ status, stdout: "" });
  expect(stderr.replace(/^vitrine: /u, "").trimEnd()).toEqual(reason);
});

test("the version is that of the package", async () => {
  expect(await vitrine(["--version"], {})).toEqual({ status: 0, stdout: `${packageVersion()}\n`, stderr: "" });
});
