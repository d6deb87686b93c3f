// Generates the Prisma client where its schema changed, compiles, bundles the dashboard where it changed, and leaves a dist/
// that runs with production dependencies alone.
//   node scripts/build.js [--if-possible]   (--if-possible: do nothing where only what production needs is installed)
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, dirname, join } from "node:path";

const { resolve } = createRequire(import.meta.url);

if (process.argv.includes("--if-possible") && !isForDevelopment()) process.exit(0);

if (!isNewest("src/generated/pothos.ts", ["prisma/schema.prisma", "prisma.config.ts", "package-lock.json"])) generate();
run("typescript", "bin/tsc", ["-p", "tsconfig.build.json"]);
if (!isNewest("dist/dashboard/index.html", ["package.json", ...filesIn("src/dashboard")]))
  run("vite", "bin/vite.js", ["build", "--config", "src/dashboard/vite.config.ts"]);
if (existsSync("dist/main.js")) chmodSync("dist/main.js", 0o755);

/** Runs an installed JavaScript command; its output is shown only when it fails. */
function run(packageName, script, args, environment = {}) {
  const path = join(dirname(resolve(`${packageName}/package.json`)), script);
  const { status, stdout, stderr } = spawnSync(process.execPath, [path, ...args], {
    env: { ...process.env, ...environment },
    encoding: "utf8",
  });
  if (status === 0) return;
  process.stderr.write(`${stdout}${stderr}`);
  process.exit(status ?? 1);
}

/** Looking for the compiler would not do: some packages that production needs bring one, but not the types of others. */
function isForDevelopment() {
  const { devDependencies } = JSON.parse(readFileSync("package.json", "utf8"));
  return Object.keys(devDependencies).every((name) => existsSync(join("node_modules", name)));
}

/** Prisma's command line would download an engine that `generate` never runs; any executable satisfies it. */
function generate() {
  run("prisma", "build/index.js", ["generate", "--no-hints"], {
    PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
    PATH: `${join("node_modules", ".bin")}${delimiter}${process.env.PATH ?? ""}`, // where it looks for generators
  });
}

/** Whether a file is there, and at least as new as all that it is made from. */
function isNewest(path, sources) {
  if (!existsSync(path)) return false;
  const changedAt = Math.max(...sources.filter(existsSync).map((source) => statSync(source).mtimeMs));
  return statSync(path).mtimeMs >= changedAt;
}

function filesIn(folder) {
  return readdirSync(folder, { recursive: true }).map((name) => join(folder, name));
}
