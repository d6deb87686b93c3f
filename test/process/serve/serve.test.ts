// @tier all
import { execFile } from "node:child_process";
import { readdir, readFile, stat, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import { cliJson } from "../../support/process/cli.js";
import { scrape } from "../../support/process/metrics.js";
import {
  endOf,
  makeMigratedPlace,
  type Place,
  removePlace,
  serve,
  type Serving,
  vitrine,
  vitrineJson,
} from "../../support/process.js";
import { until } from "../../support/until.js";
import { beginImport } from "../../support/http/slowImport.js";

const demoToken = "a-demo-token-of-my-own";
const productPath = "/external/product/v1/linen-shirt";

let place: Place;
let server: Serving;
let whileStarting: Promise<{ store: string }>;
beforeAll(async () => {
  place = await makeMigratedPlace(); // start.test.ts has a server that makes its database
  const starting = serve({ ...place.env, SHUTDOWN_GRACE_MS: "60000" });
  await until(async () => (await readdir(place.dataDir)).includes("vitrine.lock"), "the server to take its folder");
  whileStarting = vitrineJson(["store", "create", "early"], place.env);
  [server] = await Promise.all([starting, whileStarting]);
  return async () => {
    await server.stop();
    await removePlace(place);
  };
});

async function getStatus(token: string, path = productPath): Promise<number> {
  return (await fetch(`${server.url}${path}`, { headers: { "x-service-access-token": token } })).status;
}

describe("what the server prints at its first start", () => {
  test("the real port, the URLs and the demo store's token", () => {
    expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:[1-9]\d*$/u);
    for (const path of ["/graphql", "/docs", "/dashboard", "/openapi.json"]) {
      expect(server.stdout()).toContain(`${server.url}${path}\n`);
    }
    expect(server.token).toMatch(/^vt_[\w-]{43}$/u);
    expect(server.stderr()).toBe("");
  });

  test("a curl line that works as it is", async () => {
    const [line = ""] = /^ *curl .*$/mu.exec(server.stdout()) ?? [];
    const { stdout } = await promisify(execFile)("sh", ["-c", line]);
    expect(JSON.parse(stdout)).toEqual({
      id: "linen-shirt",
      sku: "VT-1001",
      title: "Linen shirt",
      featured_image: `${server.url}/demo/linen-shirt.svg`,
      url: "https://shop.example/products/linen-shirt",
    });
  });
});

test("/metrics has the free space of both folders, and the size of the database's log, but not what a scrape waits for", async () => {
  const metrics = await scrape(server.url);
  for (const [folder, path] of Object.entries({ data: place.dataDir, temporary: place.temporary })) {
    const { bavail, bsize } = await statfs(path);
    const free = metrics.get(`vitrine_free_bytes{folder="${folder}"}`) ?? 0;
    expect(Math.abs(free / (bavail * bsize) - 1), folder).toBeLessThan(0.2); // others write there too
  }
  const log = join(place.dataDir, "postgres/pg_wal");
  const sizes = await Promise.all((await readdir(log)).map(async (name) => (await stat(join(log, name))).size));
  expect(metrics.get("vitrine_database_log_bytes")).toBe(sizes.reduce((sum, size) => sum + size, 0));
  for (let n = 0; n < 20; n += 1) {
    const shown = [...(await scrape(server.url))].filter(
      ([series, value]) => series.includes("FSReqPromise") && value > 0,
    );
    expect(shown).toEqual([]);
  }
});

describe.concurrent("while a server holds the folder", () => {
  test("a second server is refused with the pid of the first, which continues", async () => {
    const second = await vitrine(["serve"], { ...place.env, PORT: "0" });
    expect(second).toEqual({
      status: 4,
      stdout: "",
      stderr: `vitrine: ${place.dataDir} is in use by process ${server.pid}.\n`,
    });
    expect(await getStatus(server.token ?? "")).toBe(200);
  });

  test("a command given while the server was still starting waited for it and worked", async () => {
    expect(await whileStarting).toEqual({ store: "early", name: "early" });
  });

  test("commands at the same time as requests all succeed", async () => {
    const requests = Array.from({ length: 100 }, () => getStatus(server.token ?? ""));
    const commands = ["one", "two"].map((store) => vitrineJson(["store", "create", store], place.env));
    expect(await Promise.all(commands)).toEqual(["one", "two"].map((store) => ({ store, name: store })));
    expect(new Set(await Promise.all(requests))).toEqual(new Set([200]));
  });
});

test("data and tokens survive a restart, and a kill; a stop leaves neither lock nor temporary files", async () => {
  const { token = "" } = server;
  const importing = await beginImport(server.url, token);
  const stopped = server.stop();
  await until(
    () =>
      fetch(`${server.url}/healthz`).then(
        () => false,
        () => true,
      ),
    "no new connection to be taken",
  );
  expect(await importing.finish()).toEqual({ message: "1 product was imported.", imported: 1, created: 1, updated: 0 });
  expect(await stopped, "long before the grace ends").toMatchObject({ status: 0, stderr: "" });
  expect(await readdir(place.dataDir)).toEqual(["postgres"]);
  expect(await readdir(place.temporary)).toEqual([]);

  server = await serve({ ...place.env, DEMO_TOKEN: demoToken });
  expect([await getStatus(token), await getStatus(demoToken), server.token]).toEqual([200, 200, demoToken]);
  expect(await getStatus(token, "/external/product/v1/late")).toBe(200);
  const { token: issued } = await cliJson(["token", "issue", "demo"], place.env);
  await server.stop("SIGKILL");
  expect((await readdir(place.dataDir)).toSorted()).toEqual(["postgres", "vitrine.lock"]);

  server = await serve(place.env);
  expect([await getStatus(demoToken), await getStatus(issued)]).toEqual([200, 200]);
  expect(await getStatus(token), "the random token of an earlier start").toBe(401);
  expect(await getStatus(server.token ?? ""), "each start shows one of its own").toBe(200);
  expect(await readdir(place.temporary), "the killed server's socket is gone").toHaveLength(1);
});

test("a server whose folder was taken over while it was suspended ends, and leaves the folder to the other", async () => {
  const lock = join(place.dataDir, "vitrine.lock");
  const other = JSON.stringify({ pid: 1, startedAt: "1", scope: "another boot pid:[1]", hostname: "c0ffee" });
  const { token } = await cliJson(["token", "issue", "demo"], place.env);
  const importing = await beginImport(server.url, token);
  await writeFile(lock, other);
  await until(async () => (await readdir(place.temporary)).length === 0, "the engine to be stopped");
  expect(await importing.finish(), "nothing was stored").toMatchObject({ code: "UNAVAILABLE" });
  const stderr = `vitrine: ${lock} was taken over by another process while this one was suspended.\n`;
  // A sweep that runs just then logs that it will try again.
  expect(await endOf(server)).toMatchObject({ status: 1, stderr: expect.stringContaining(stderr) });
  expect(await readFile(lock, "utf8")).toBe(other);
});
