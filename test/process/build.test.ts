// @tier long
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, readdir, readFile, symlink, utimes, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { fromNow } from "../support/clock.js";
import { folderForTest } from "../support/folder.js";
import { migratedPlaceForTest } from "../support/process.js";
import { until } from "../support/until.js";

const copied = [
  "src",
  "scripts",
  "prisma",
  "dist",
  "package.json",
  "package-lock.json",
  "prisma.config.ts",
  "tsconfig.json",
];

/** A checkout of the test's own, built. */
async function checkout(): Promise<string> {
  const folder = await folderForTest();
  for (const name of copied) await cp(name, join(folder, name), { recursive: true, preserveTimestamps: true });
  await symlink(resolve("node_modules"), join(folder, "node_modules"));
  return folder;
}

function run(folder: string, script: string, env: Record<string, string> = {}, ...args: readonly string[]) {
  const { PATH = "" } = process.env;
  const child = spawn(process.execPath, [script, ...args], { cwd: folder, env: { PATH, ...env } });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

async function endOf(child: ChildProcessWithoutNullStreams) {
  const [stderr, [status]] = await Promise.all([text(child.stderr), once(child, "close")]);
  return { status: status as unknown, stderr };
}

const build = async (folder: string) => endOf(run(folder, "scripts/build.js"));

/** Changes the contents, and so the names, of most chunks. */
async function change(folder: string, n: number): Promise<void> {
  const file = join(folder, "src/errors.ts");
  const source = await readFile("src/errors.ts", "utf8");
  await writeFile(file, `${source}\nReflect.set(globalThis, "builtFrom", ${n});\n`);
  const later = fromNow(n);
  for (const path of ["src/dashboard/format.ts", "src/tracker/clock.ts"])
    await utimes(join(folder, path), later, later);
}

async function startServer(folder: string) {
  const { env } = await migratedPlaceForTest();
  const child = run(folder, "dist/main.js", { ...env, PORT: "0", LOG_LEVEL: "warn" }, "serve");
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (more) => (printed += more));
  const url = () => /listens on (\S+)/u.exec(printed)?.[1];
  await until(() => url() !== undefined || child.exitCode !== null, "the server to serve", 60_000);
  expect(printed).toMatch(/listens on/u);
  return { child, url: url() ?? "" };
}

test("servers start from a checkout while it is built, by several builds at once, and go on after that", async () => {
  const folder = await checkout();
  const { child: early, url } = await startServer(folder);
  const building = new AbortController();
  const builds = (async () => {
    for (let n = 1; n <= 2; n += 1) {
      await change(folder, n);
      for (const { status, stderr } of await Promise.all([build(folder), build(folder)])) {
        expect([status, stderr]).toEqual([0, "Building Vitrine …\n"]);
      }
    }
  })().finally(() => building.abort());
  let started = 0;
  while (!building.signal.aborted) {
    const { child } = await startServer(folder);
    child.kill("SIGTERM");
    expect((await endOf(child)).status).toBe(0);
    started += 1;
  }
  await builds;
  expect(started).toBeGreaterThan(1);
  // What the first server imports only now.
  for (const path of ["/graphql", "/docs", "/dashboard", "/openapi.json", "/tracker/v1.js", "/readyz"]) {
    expect([path, (await fetch(url + path, { headers: { accept: "text/html" } })).status]).toEqual([path, 200]);
  }
  early.kill("SIGTERM");
  expect((await endOf(early)).status).toBe(0);
  const others = await readdir(folder);
  expect(others.filter((name) => name.startsWith("dist"))).toEqual(["dist"]);
});

test("a build that was killed does not keep the next one from building", async () => {
  const folder = await checkout();
  await change(folder, 1);
  const killed = run(folder, "scripts/build.js");
  const lock = join(folder, "dist.lock");
  await until(async () => (await readFile(lock, "utf8").catch(() => "")) === String(killed.pid), "the lock");
  killed.kill("SIGKILL");
  await once(killed, "close");
  await change(folder, 2);
  expect((await build(folder)).status).toBe(0);
  const chunks = await readdir(join(folder, "dist/chunks"));
  const sources = await Promise.all(
    chunks.filter((name) => name.endsWith(".js")).map((name) => readFile(join(folder, "dist/chunks", name), "utf8")),
  );
  expect(sources.some((source) => source.includes('"builtFrom", 2'))).toBe(true);
});

test("files of earlier builds are removed a day after they were replaced", async () => {
  const folder = await checkout();
  await writeFile(join(folder, "dist/chunks/earlier.js"), "");
  const list = join(folder, "dist/earlier.json");
  const isThere = async () => (await readdir(join(folder, "dist/chunks"))).includes("earlier.js");
  await build(folder);
  const noted = JSON.parse(await readFile(list, "utf8")) as Record<string, number>;
  const at = noted["dist/chunks/earlier.js"] ?? 0;
  expect(await isThere()).toBe(true);
  await writeFile(list, JSON.stringify({ ...noted, "dist/chunks/earlier.js": at - 24 * 3_600_000 }));
  await build(folder);
  expect(await isThere()).toBe(false);
});
