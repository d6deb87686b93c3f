// `npm run test:fuzz [-- TIMES]`: the fuzz tests with TIMES (20) times as many inputs as in `npm test`, and the tests of
// properties with all of their inputs, for which `npm test` takes a third of a second or a few runs.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const times = process.argv[2] ?? "20";
const tests = readdirSync("test", { recursive: true })
  .map((name) => join("test", name))
  .filter((path) => path.endsWith(".test.ts") && readFileSync(path, "utf8").includes('"fast-check"'));
const { status } = spawnSync("npx", ["vitest", "run", ...tests], {
  stdio: "inherit",
  env: { ...process.env, FUZZ_RUNS: times },
  shell: process.platform === "win32",
});
process.exitCode = status ?? 1;
