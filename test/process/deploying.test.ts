// @tier long
import { execFile, spawn } from "node:child_process";
import { chown, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { configurationIn } from "../support/docs.js";
import { folderForTest } from "../support/folder.js";
import { migratedPlaceForTest } from "../support/process.js";
import { needed } from "../support/run/programs.js";
import { until } from "../support/until.js";

const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/u, "");
const { PATH = "" } = process.env;
/** nobody and nogroup of Debian: a user who owns nothing. */
const nobody = 65_534;

async function unit(): Promise<string> {
  const text = configurationIn(await readFile(join(root, "docs/deploying.md"), "utf8"), "ini");
  return text.replaceAll("/opt/vitrine", root).replaceAll("/usr/bin/node", process.execPath);
}

test("systemd-analyze accepts the unit", async () => {
  const systemdAnalyze = needed("TEST_SYSTEMD_ANALYZE");
  const file = join(await folderForTest(), "vitrine.service");
  await writeFile(file, await unit());
  const { stdout, stderr } = await promisify(execFile)(systemdAnalyze, ["verify", file]);
  expect(stdout + stderr).toBe("");
  const checks = ["--offline=true", "--no-pager", "security", file];
  const { stdout: report } = await promisify(execFile)(systemdAnalyze, checks);
  const accepted = report
    .split("\n")
    .filter((line) => line.startsWith("✓"))
    .join("\n");
  for (const limited of ["UMask=", "CapabilityBoundingSet=~CAP_SYS_ADMIN", "RestrictAddressFamilies=~AF_NETLINK"]) {
    expect(accepted).toContain(limited);
  }
});

test("a crash leaves no memory of the service on the disk", async () => {
  expect(setting(await unit(), "LimitCORE")).toBe("0");
});

test("commands run with the settings of the unit", async () => {
  const lines = (await unit()).split("\n");
  const command = configurationIn(await readFile(join(root, "docs/deploying.md"), "utf8"), "sh");
  const properties = Array.from(command.matchAll(/-p (\S+)/gu), ([, property = ""]) => property);
  expect(properties.map((property) => property.split("=")[0])).toEqual([
    "User",
    "WorkingDirectory",
    "Environment",
    "EnvironmentFile",
  ]);
  for (const property of properties) {
    const [name = "", ...value] = property.replaceAll("/opt/vitrine", root).split("=");
    expect(lines.find((line) => line.startsWith(`${name}=`))).toContain(value.join("="));
  }
});

function setting(text: string, name: string): string {
  return new RegExp(`^${name}=(.*)$`, "mu").exec(text)?.[1] ?? "";
}

/** Starts a command as a user who cannot write to the source tree. */
async function startAsNobody(command: readonly string[], env: Readonly<Record<string, string>>) {
  const [file = "", ...args] = command;
  const child = spawn(file, args, {
    cwd: root,
    env: { PATH, PORT: "0", ...env },
    uid: nobody,
    gid: nobody,
    detached: true,
  });
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (printed += text));
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  onTestFinished(() => {
    if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  });
  return { child, ended, printed: () => printed };
}

async function migratedFolderOfNobody(): Promise<string> {
  const { dataDir } = await migratedPlaceForTest();
  await promisify(execFile)("chown", ["-R", `${nobody}:${nobody}`, dataDir]);
  return dataDir;
}

test("its command serves as a user who can only read the source tree, and stops cleanly", async () => {
  const text = await unit();
  expect(setting(text, "WorkingDirectory")).toBe(root);
  const dataDir = await migratedFolderOfNobody();
  const variables = setting(text, "Environment")
    .split(" ")
    .map((pair) => pair.split("=") as [string, string]);
  const settings: Record<string, string> = Object.fromEntries(variables);
  // Outside of what PrivateTmp hides from commands, which reach the embedded database by a socket there.
  expect(settings).toMatchObject({ DATA_DIR: "/var/lib/vitrine", TMPDIR: "/var/cache/vitrine" });
  expect([setting(text, "StateDirectory"), setting(text, "CacheDirectory")]).toEqual(["vitrine", "vitrine"]);
  const cache = await folderForTest();
  await chown(cache, nobody, nobody);
  const env = { ...settings, DATA_DIR: dataDir, TMPDIR: cache };
  const { child, ended, printed } = await startAsNobody(setting(text, "ExecStart").split(" "), env);
  await until(() => printed().includes('"serving"') || child.exitCode !== null, "the server to serve");
  const [, url] = /listens on (\S+)/u.exec(printed()) ?? [];
  expect(printed()).toContain("Dashboard");
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  const command = await startAsNobody([process.execPath, "dist/main.js", "store", "list"], { DATA_DIR: dataDir });
  expect([await command.ended, command.printed()]).toEqual([0, expect.stringContaining("demo")]);
  child.kill("SIGTERM");
  expect(await ended).toBe(0);
});

test("npm start as that user runs the existing build, and says how to start it directly", async () => {
  const dataDir = await migratedFolderOfNobody();
  const { child, printed } = await startAsNobody(["npm", "start"], { DATA_DIR: dataDir, HOME: dataDir });
  await until(() => printed().includes("listens on") || child.exitCode !== null, "the server to serve");
  expect(printed()).toContain(`This user may not write to ${root}, so nothing is built`);
  expect(printed()).toContain("node dist/main.js serve");
  expect(printed()).not.toContain("EACCES");
});

test("without a data folder that the user may write, the message names DATA_DIR", async () => {
  const { ended, printed } = await startAsNobody([process.execPath, "dist/main.js", "serve"], {});
  expect(await ended).toBe(1);
  expect(printed()).toContain("this user may not write there; set DATA_DIR to a folder of its own (EACCES)");
});
