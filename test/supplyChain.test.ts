import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";

interface Locked {
  readonly version: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  /** What Prisma's client takes along where it is there anyway: the command line, and TypeScript. */
  readonly devOptional?: boolean;
  readonly hasInstallScript?: boolean;
}

const readJson = async (path: string) => JSON.parse(await readFile(path, "utf8"));
const lock: { packages: Record<string, Locked> } = await readJson("package-lock.json");
const manifest: Record<string, any> = await readJson("package.json");
const installed = Object.entries(lock.packages).filter(([path]) => path !== "");
const nameOf = (path: string) => path.split("node_modules/").at(-1) ?? "";

const licences = (...args: string[]) => promisify(execFile)(process.execPath, ["scripts/licences.js", ...args]);

test("no package may run a script when it is installed, and each that has one is known", () => {
  const withScript = installed.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => nameOf(path));
  expect(manifest["allowScripts"]).toEqual(Object.fromEntries(withScript.map((name) => [name, false])));
});

test("every package is locked by the digest of its content", () => {
  for (const [path, { integrity }] of installed)
    expect([path, integrity]).toEqual([path, expect.stringMatching(/^sha512-/u)]);
});

test("direct dependencies are pinned to one version each", () => {
  const versions = Object.entries<string>({ ...manifest["dependencies"], ...manifest["devDependencies"] });
  for (const [name, version] of versions) {
    expect([name, lock.packages[`node_modules/${name}`]?.version]).toEqual([name, version]);
  }
});

test("licences lists every package that is installed to run, and all are permissive", async () => {
  const { stdout } = await licences();
  const names = new Set(
    installed
      .filter(([, { dev, devOptional, optional }]) => !dev && !devOptional && !optional)
      .map(([path]) => nameOf(path)),
  );
  expect(
    new Set(
      stdout
        .trimEnd()
        .split("\n")
        .map((line) => line.split("\t")[0]),
    ),
  ).toEqual(names);
});

test.each(["GPL-3.0-only", "UNLICENSED", undefined])("licences fails on a package with %s", async (license) => {
  const folder = await mkdtemp(join(tmpdir(), "vitrine-licences-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const packages = {
    "node_modules/a": { version: "1.0.0", license },
    "node_modules/b": { version: "1.0.0", license, dev: true },
  };
  await writeFile(join(folder, "lock.json"), JSON.stringify({ packages }));
  await expect(licences(join(folder, "lock.json"))).rejects.toMatchObject({
    code: 1,
    stderr: `licences: a 1.0.0 has ${license ?? "none"}, which is not among the permissive ones\n`,
  });
});

test("SECURITY.md names tests that exist, and pins as package.json has them", async () => {
  const text = await readFile("SECURITY.md", "utf8");
  const tests = [...text.matchAll(/`(test\/[\w./]+)`/gu)].map(([, path = ""]) => path);
  expect(tests.length).toBeGreaterThan(20);
  for (const path of tests)
    expect([path, await readFile(path, "utf8").then(Boolean, () => false)]).toEqual([path, true]);
  const pins = [...text.matchAll(/`([@\w/-]+)`\s(\d+\.[\w.-]*\w)/gu)].map(([, name = "", version = ""]) => [
    name,
    version,
  ]);
  expect(pins.length).toBeGreaterThan(10);
  const versions: Record<string, string> = { ...manifest["dependencies"], ...manifest["devDependencies"] };
  for (const [name = "", version] of pins) expect([name, versions[name]]).toEqual([name, version]);
});
