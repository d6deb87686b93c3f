import { once } from "node:events";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { checkConnections } from "../../../src/cli/doctor/databaseChecks.js";
import { checkClock, checkNode, checkProxy } from "../../../src/cli/doctor/machineChecks.js";
import { readConfig } from "../../../src/config.js";
import { openDatabase } from "../../../src/database/open.js";
import { startApp } from "../../support/app.js";
import { cli } from "../../support/process/cli.js";
import { placeForTest, unmigratedPlaceForTest } from "../../support/process.js";

/** Runs `vitrine doctor`: the status of each check, and its texts. */
async function doctor(env: Readonly<Record<string, string>>) {
  const { status, stdout, stderr } = await cli(["doctor", "--json"], env);
  expect(stderr).toBe("");
  const { ok, checks } = JSON.parse(stdout);
  return {
    status,
    ok,
    found: Object.fromEntries(checks.map((check: any) => [check.name, check.status])),
    of: (name: string) => checks.find((check: any) => check.name === name),
  };
}

const well = { node: "ok", environment: "ok", database: "ok", clock: "ok", redis: "ok", disk: "ok", port: "ok" };

test("before the first start all checks pass, and nothing is created", async () => {
  const { env, dataDir } = await placeForTest();
  const DATA_DIR = join(dataDir, "not", "there");
  const { status, ok, found, of } = await doctor({ ...env, DATA_DIR, PORT: "0" });
  expect({ status, ok, found }).toEqual({ status: 0, ok: true, found: well });
  expect(of("database").detail).toBe(`there is no database in ${DATA_DIR} yet; npx vitrine serve creates it`);
  expect(await readdir(dataDir)).toEqual([]);
});

/** A port that nobody listens on any more, or somebody does until the end of the test. */
async function portOf(state: "free" | "taken"): Promise<string> {
  const other = createServer((_, response) => void response.writeHead(404).end()).listen(0, "127.0.0.1");
  await once(other, "listening");
  const { port } = other.address() as AddressInfo;
  const close = () => new Promise((resolve) => other.close(resolve));
  if (state === "free") await close();
  else onTestFinished(async () => void (await close()));
  return String(port);
}

test("it connects through a running server, reports its pid and finds missing migrations", async () => {
  const { env, dataDir } = await unmigratedPlaceForTest();
  const database = await openDatabase(readConfig(env), "exclusive", () => undefined);
  onTestFinished(() => database.close());
  await database.share();
  const port = await portOf("taken");
  const waiting = await doctor({ ...env, PORT: port });
  expect(waiting).toMatchObject({ status: 0, found: { ...well, migrations: "warning", port: "warning" } });
  expect(waiting.of("database").detail).toBe(`the embedded one in ${dataDir}, held by process ${process.pid}, answers`);
  const stuck = await doctor({ ...env, AUTO_MIGRATE: "false", PORT: "0" });
  expect(stuck).toMatchObject({ status: 1, ok: false, found: { ...well, migrations: "failed" } });
  expect(stuck.of("migrations").advice).toBe("Run npx vitrine migrate: AUTO_MIGRATE is false.");

  await cli(["migrate"], env);
  expect(await doctor({ ...env, PORT: "0" })).toMatchObject({ status: 0, found: { ...well, migrations: "ok" } });
  const { status, stdout, stderr } = await cli(["doctor"], { ...env, PORT: port });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(stdout).toContain(`\nwarning  port         ${port} is in use on 127.0.0.1\n`);
  const advice = "→ If the program that uses it is not Vitrine, set PORT to another port.";
  expect(stdout).toContain(`\n                      ${advice}\n`);
});

test("an unreachable database and Redis are reported with advice, and the other checks still run", async () => {
  const port = await portOf("free");
  const { status, found, of } = await doctor({
    DATABASE_URL: `postgres://somebody@127.0.0.1:${port}/none`,
    REDIS_URL: `redis://127.0.0.1:${port}`,
    PORT: "0",
  });
  expect({ status, found }).toEqual({ status: 1, found: { ...well, database: "failed", redis: "failed" } });
  expect(of("database")).toMatchObject({
    detail: `Can't reach database server at 127.0.0.1:${port}`,
    advice: expect.stringContaining("DATABASE_URL"),
  });
  expect(of("redis")).toMatchObject({ detail: expect.stringContaining(`127.0.0.1:${port}`) });
});

test("a folder that holds something else than a database is reported", async () => {
  const { env, dataDir } = await placeForTest();
  await mkdir(join(dataDir, "postgres"));
  await writeFile(join(dataDir, "postgres", "PG_VERSION"), "not a version");
  expect(await doctor({ ...env, PORT: "0" })).toMatchObject({ status: 1, found: { ...well, database: "failed" } });
});

test("a misspelled variable is reported", async () => {
  const { env } = await placeForTest();
  const { status, stdout } = await cli(["doctor"], { ...env, PORT: "0", DATABSE_URL: "x" });
  expect([status, stdout]).toEqual([
    0,
    expect.stringMatching(/^warning +environment +unknown variables: DATABSE_URL$/mu),
  ]);
});

test("an invalid environment is reported with every variable", async () => {
  const { status, found, of } = await doctor({ PORT: "web", REDIS_URL: "nowhere" });
  expect({ status, found }).toEqual({ status: 1, found: { node: "ok", environment: "failed" } });
  expect(of("environment").detail).toMatch(/PORT [^;]+; REDIS_URL [^;]+\.$/u);
});

test("a Node.js that is too old and clocks that differ are reported", () => {
  expect(["18.20.0", "20.18.3", "20.19.0", "22.1.0"].map((version) => checkNode(version).status)).toEqual([
    "failed",
    "failed",
    "ok",
    "ok",
  ]);
  const ours = new Date();
  expect(checkClock({ ours, theirs: new Date(ours.getTime() + 1_500) }).status).toBe("ok");
  expect(checkClock({ ours, theirs: new Date(ours.getTime() - 5_000) })).toMatchObject({
    status: "warning",
    detail: "the database's clock is 5000 ms behind this one",
  });
});

test.each([
  [{ webConcurrency: 1, databasePoolMax: 10, redisUrl: undefined }, 13],
  [{ webConcurrency: 4, databasePoolMax: 10, redisUrl: undefined }, 52],
  [{ webConcurrency: 4, databasePoolMax: 10, redisUrl: "redis://cache" }, 48],
])("connections beyond the pool are counted: %j may use %i", (config, needed) => {
  const detail = (available: number) =>
    `${needed} of the server's ${available} connections may be used by one \`vitrine serve\``;
  expect(checkConnections(needed + 1, config)).toMatchObject({ status: "ok", detail: detail(needed + 1) });
  expect(checkConnections(needed, config)).toMatchObject({ status: "warning", detail: detail(needed) });
});

test.each([
  ["/external/store/v1", { "x-forwarded-for": "203.0.113.9" }],
  ["/graphql", { via: "1.1 cache" }],
  ["/healthz", { forwarded: "for=203.0.113.9" }],
])(
  "a proxy before %s is a warning where TRUST_PROXY is not set, before any shopper counts for its address",
  async (path, headers) => {
    for (const trustedProxies of [0, 1]) {
      const app = await startApp({ trustedProxies });
      const at = { host: "127.0.0.1", port: Number(new URL(app.url).port), trustedProxies };
      await fetch(app.url + path, { headers: { connection: "close" } });
      expect(await checkProxy(at)).toMatchObject([{ name: "proxy", status: "ok" }]);
      for (let call = 0; call < 2; call += 1)
        await fetch(app.url + path, { headers: { connection: "close", ...headers } });
      const warned = {
        status: "warning",
        advice: expect.stringContaining("set TRUST_PROXY to the number of proxies (it is 0)"),
      };
      expect(await checkProxy(at)).toMatchObject([trustedProxies === 0 ? warned : { status: "ok" }]);
      await app.close();
    }
  },
);
