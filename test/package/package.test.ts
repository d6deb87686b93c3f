// @tier long
import { execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, cp, mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { variableNames } from "../../src/config.js";
import { until } from "../support/until.js";
import { followDockerfile, ignoring, type Stage } from "./dockerfile.js";

const run = promisify(execFile);

describe("the image, its commands run in folders since no container engine runs here", () => {
  let folder: string;
  let stages: Stage[];
  let image: Stage;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "vt-image-"));
    await chmod(folder, 0o755); // as `/` is
    stages = await followDockerfile(folder);
    image = stages.at(-1) ?? expect.fail("no stage");
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test("is built in stages, and serves as a user without rights, by node itself", () => {
    expect(stages.map(({ name, user }) => [name, user])).toEqual([
      ["build", undefined],
      ["dependencies", undefined],
      ["2", "node"],
    ]);
    expect(new Set(stages.map(({ base }) => base))).toEqual(new Set(["node:24-bookworm-slim"]));
    // No shell and no npm between: signals reach the process that serves.
    expect([...image.entrypoint, ...image.command]).toEqual(["node", "dist/main.js", "serve"]);
    expect(Object.keys(image.env).filter((name) => /TOKEN|SECRET|PASSWORD|URL/u.test(name))).toEqual([]);
  });

  test("holds what production needs and nothing else", () => {
    const has = (path: string) => existsSync(join(image.workdir, path));
    expect(
      ["dist/main.js", "prisma/migrations", "package.json", "node_modules/pg"].filter((path) => !has(path)),
    ).toEqual([]);
    const more = [
      "node_modules/typescript",
      "node_modules/vitest",
      "node_modules/prisma",
      "src",
      "test",
      ".git",
      ".env",
    ];
    expect(more.filter(has)).toEqual([]);
  });

  test("who serves can write to the folder of the database and to nothing else", async () => {
    const { stdout } = await run("find", [".", "-writable", "!", "-type", "l"], { cwd: image.workdir, ...image.ids });
    expect(stdout).toBe("./data\n");
  });

  test("what npm runs after installing builds nothing there, since the tools for it are missing", async () => {
    const dependencies = stages.find(({ name }) => name === "dependencies") ?? expect.fail("no such stage");
    await cp("scripts", join(dependencies.workdir, "scripts"), { recursive: true });
    const { scripts } = JSON.parse(await readFile("package.json", "utf8"));
    const { stdout, stderr } = await run("sh", ["-c", scripts.prepare], { cwd: dependencies.workdir });
    expect({ stdout, stderr }).toEqual({ stdout: "", stderr: "" });
    expect(existsSync(join(dependencies.workdir, "dist"))).toBe(false);
  });

  test("answers on the embedded database, is healthy, and ends on SIGTERM with status 0", async () => {
    const { PATH = "" } = process.env;
    const own = {
      PATH,
      HOST: "127.0.0.1",
      PORT: "0",
      DATA_DIR: join(image.root, image.env["DATA_DIR"] ?? ""),
      LOG_LEVEL: "warn",
    };
    const [program = "", ...args] = [...image.entrypoint, ...image.command];
    const server = spawn(program, args, { cwd: image.workdir, env: { ...image.env, ...own }, ...image.ids });
    let printed = "";
    server.stdout.setEncoding("utf8").on("data", (text: string) => (printed += text));
    server.stderr.setEncoding("utf8").on("data", (text: string) => (printed += text));
    const ended = new Promise((resolve) => server.once("exit", (status, signal) => resolve({ status, signal })));
    try {
      await until(() => /curl .*\n/u.test(printed) || server.exitCode !== null, "the banner", 100_000);
      const [, token = "", product = ""] = /Token: (\S+)' (\S+)/u.exec(printed) ?? expect.fail(printed);
      const { origin, port } = new URL(product);
      expect((await fetch(`${origin}/readyz`)).status).toBe(200);
      const response = await fetch(product, { headers: { "x-service-access-token": token } });
      expect(await response.json()).toMatchObject({ id: "linen-shirt", title: "Linen shirt" });
      const pages = ["/graphql", "/docs", "/dashboard", "/openapi.json"].map((path) =>
        fetch(origin + path, { headers: { accept: "text/html" } }),
      );
      expect((await Promise.all(pages)).every(({ status }) => status < 500)).toBe(true);
      const [healthProgram = "", ...healthArgs] = image.healthcheck;
      const health = (env: object) => run(healthProgram, healthArgs, { env: { PATH, ...env } });
      await health({ PORT: port });
      await expect(health({ PORT: "1" })).rejects.toMatchObject({ code: 1 });
    } finally {
      server.kill("SIGTERM");
    }
    expect(await ended, printed).toEqual({ status: 0, signal: null });
  });
});

describe("the package", () => {
  test("runs after `npm ci --omit=dev` beside its lock file", async () => {
    const folder = await mkdtemp(join(tmpdir(), "vt-package-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const { files } = JSON.parse(await readFile("package.json", "utf8"));
    for (const path of [...files, "package.json", "package-lock.json"]) {
      await cp(path, join(folder, path), { recursive: true });
    }
    const { mtimeMs } = await stat(join(folder, "dist/main.js"));
    await run("npm", ["ci", "--omit=dev"], { cwd: folder, maxBuffer: 1e8 });
    expect((await stat(join(folder, "dist/main.js"))).mtimeMs, "built again").toBe(mtimeMs);
    const { PATH = "" } = process.env;
    const env = { PATH, DATA_DIR: join(folder, "data") };
    const { stdout } = await run("npx", ["vitrine", "store", "create", "acme", "--json"], { cwd: folder, env });
    expect(JSON.parse(stdout)).toEqual({ store: "acme", name: "acme" });
  });
});

describe(".dockerignore", () => {
  test.each([
    ["dist", ["dist", "dist/main.js"], ["src/dist", "dist.ts"]],
    ["*.log", ["a.log"], ["a/b.log", "a.logs"]],
    ["**/.env*", [".env", "a/b/.env.local"], ["a.env"]],
    ["src/*/generated", ["src/a/generated/b"], ["src/generated", "src/a/b/generated"]],
  ])("%s is read as Docker reads it", (line, ignored, kept) => {
    expect([...ignored, ...kept].filter((path) => ignoring(line).test(path))).toEqual(ignored);
  });

  test.each(["!dist", "# all", "[ab]", "a?", "/dist", "dist/"])(
    "%s is refused, as what it means is not known here",
    (line) => {
      expect(() => ignoring(line)).toThrow(line);
    },
  );
});

describe("compose.yaml", () => {
  test("starts the server after PostgreSQL and Redis, which nobody outside can reach, and holds no secret", async () => {
    const { services, volumes } = parse(await readFile("compose.yaml", "utf8"));
    expect(Object.keys(services).toSorted()).toEqual(["postgres", "redis", "vitrine"]);
    const { vitrine, postgres, redis } = services;
    expect(vitrine.build).toBe(".");
    expect(vitrine.depends_on).toEqual({
      postgres: { condition: "service_healthy" },
      redis: { condition: "service_healthy" },
    });
    expect(vitrine.ports).toEqual(["127.0.0.1:4000:4000"]);
    for (const service of [postgres, redis]) {
      expect(service.ports).toBeUndefined();
      expect(service.healthcheck.test[0]).toBe("CMD");
    }
    expect(Object.keys(volumes)).toEqual(["temporary", "postgres"]);
    expect([vitrine.read_only, vitrine.tmpfs, vitrine.volumes]).toEqual([true, undefined, ["temporary:/tmp"]]);
    // Whoever starts it must choose one.
    expect(postgres.environment.POSTGRES_PASSWORD).toMatch(/^\$\{POSTGRES_PASSWORD:\?[^}]+\}$/u);
    expect(vitrine.environment.DATABASE_URL).toMatch(
      /^postgres:\/\/vitrine:\$\{POSTGRES_PASSWORD:\?[^}]+\}@postgres:/u,
    );
    const names = Object.keys(vitrine.environment);
    expect(names.filter((name) => !variableNames.includes(name))).toEqual([]);
  });
});
