// `npm run test:fuzz [-- TIMES]`: the fuzz tests with TIMES (20) times as many inputs as in `npm test`.
import { spawnSync } from "node:child_process";

const times = process.argv[2] ?? "20";
const { status } = spawnSync("npx", ["vitest", "run", "test/fuzz"], {
  stdio: "inherit",
  env: { ...process.env, FUZZ_RUNS: times },
  shell: process.platform === "win32",
});
process.exitCode = status ?? 1;
