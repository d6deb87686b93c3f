// `npm run test:soak [-- MINUTES]`: a server under mixed load and broken connections for MINUTES (10), on each engine
// that there is. It compares the memory, handles and event loop of the end with those after a third of the time.
import { spawnSync } from "node:child_process";

const minutes = process.argv[2] ?? "10";
const { status } = spawnSync("npx", ["vitest", "run", "--project", "embedded", "test/soak"], {
  stdio: "inherit",
  env: { ...process.env, TEST_SOAK_MINUTES: minutes },
  shell: process.platform === "win32",
});
process.exitCode = status ?? 1;
