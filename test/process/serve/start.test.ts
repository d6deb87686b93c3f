// @tier all
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { cli, cliJson } from "../../support/process/cli.js";
import {
  endOf,
  migratedPlaceForTest,
  placeForTest,
  serve,
  start,
  unmigratedPlaceForTest,
  vitrine,
  vitrineJson,
} from "../../support/process.js";
import { until } from "../../support/until.js";

test("a folder that holds something else than a database is refused in one line, without a lock or files left behind", async () => {
  const { env, dataDir, temporary } = await placeForTest();
  await mkdir(join(dataDir, "postgres"));
  await writeFile(join(dataDir, "postgres", "PG_VERSION"), "not a version");
  const stderr = expect.stringMatching(/^vitrine: The embedded database in [^\n]+ cannot be used: [^\n]+\n$/u);
  expect(await cli(["store", "list"], env)).toEqual({ status: 5, stdout: "", stderr });
  expect([await readdir(dataDir), await readdir(temporary)]).toEqual([["postgres"], []]);
});

test("on a database without migrations the server runs, is not ready at /readyz, and is ready once they are applied", async () => {
  const { env, dataDir } = await unmigratedPlaceForTest();
  const unmigrated = { ...env, AUTO_MIGRATE: "false" };
  const server = await serve(unmigrated);
  const readiness = async () => {
    const response = await fetch(`${server.url}/readyz`);
    return { status: response.status, body: await response.json() };
  };
  expect(await readiness()).toMatchObject({ status: 503, body: { status: "unavailable", database: "not migrated" } });
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
  expect(server.token, "no demo store yet").toBeUndefined();
  const refused = await cli(["store", "create", "acme"], unmigrated);
  expect(refused).toMatchObject({ status: 4, stderr: expect.stringMatching(/^vitrine: [^\n]+\n$/u) });

  const [first, second] = await Promise.all([vitrineJson(["migrate"], unmigrated), cliJson(["migrate"], unmigrated)]);
  expect(
    [first, second].filter(({ applied }) => applied.length > 0),
    "only one of two migrates",
  ).toHaveLength(1);
  await until(async () => (await readiness()).status === 200, "the server to be ready"); // an answer counts for a second
  expect(await readiness()).toMatchObject({ status: 200, body: { status: "ready", database: "ok" } });

  // Its database, which has no store yet, serves as a PostgreSQL server of somebody else.
  const { socketFolder } = JSON.parse(await readFile(join(dataDir, "vitrine.lock"), "utf8"));
  const DATABASE_URL = `postgresql://postgres@localhost/postgres?host=${encodeURIComponent(socketFolder)}`;
  const other = await serve({ DATABASE_URL, DATABASE_POOL_MAX: "1" });
  expect(other.token, "no demo store on a server's database").toBeUndefined();
  expect(other.stdout()).not.toContain("demo");
  expect(other.stdout()).toContain("    npx vitrine store create acme\n    npx vitrine token issue acme\n");
  const { stderr } = await cli(["token", "list", "demo"], env);
  expect(stderr).toBe("vitrine: There is no store demo.\n");
  expect(await other.stop()).toMatchObject({ status: 0, stderr: "" });
  expect((await server.stop()).status).toBe(0);
});

test("a first start that was killed while it made the database leaves nothing that the next start does not remove", async () => {
  const { env, dataDir, temporary } = await placeForTest();
  const killed = start(["serve"], { ...env, PORT: "0" });
  const begun = ["postgres.new/base", "postgres/base"].map((name) => join(dataDir, name)); // the second, where the kill is late
  await until(() => begun.some(existsSync), "the database to be made");
  killed.process.kill("SIGKILL");
  const told = "is creating its database in \\S+; this takes a few seconds on the first start\\.";
  const stdout = expect.stringMatching(new RegExp(`^Vitrine \\S+ ${told}\n$`, "u")); // at once, and no more
  expect(await endOf(killed)).toMatchObject({ status: "SIGKILL", stdout });

  expect(await cliJson(["store", "create", "a"], env)).toEqual({ store: "a", name: "a" });
  expect([await readdir(dataDir), await readdir(temporary)]).toEqual([["postgres"], []]);

  await mkdir(join(dataDir, "postgres.new")); // where a restore came before the next start
  expect(await cli(["store", "list"], env)).toMatchObject({ status: 0 });
  expect(await readdir(dataDir)).toEqual(["postgres"]);
});

test("a start that is interrupted or whose port is in use leaves nothing behind and uses up no demo token", async () => {
  const { env, dataDir, temporary } = await placeForTest();
  const starting = start(["serve"], { ...env, PORT: "0" });
  await until(async () => (await readdir(temporary)).length > 0, "the database to be started");
  starting.process.kill("SIGTERM");
  expect(await endOf(starting)).toMatchObject({ status: "SIGTERM", stdout: expect.not.stringContaining("Token") });
  expect(await readdir(temporary)).toEqual([]);

  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const { port } = other.address() as AddressInfo;
  const refused = await vitrine(["serve"], { ...env, PORT: String(port) });
  other.close();
  const stderr = `vitrine: The port ${port} on 127.0.0.1 is in use. Stop the program that listens there, or set PORT to another port.\n`;
  expect(refused).toEqual({ status: 1, stdout: "", stderr });
  expect([await readdir(dataDir), await readdir(temporary)]).toEqual([["postgres"], []]);

  const server = await serve(env);
  expect(server.token).toMatch(/^vt_/u);
  await server.stop();
});

test("commands without a server take turns", async () => {
  const { env, dataDir, temporary } = await migratedPlaceForTest();
  const made = await Promise.all([
    vitrineJson(["store", "create", "a"], env),
    cliJson(["store", "create", "b"], env), // in this process
  ]);
  expect(made.map(({ store }) => store)).toEqual(["a", "b"]);
  expect([await readdir(dataDir), await readdir(temporary)]).toEqual([["postgres"], []]);
});
