// `npm run test:all [-- FILES]`: the tests that need more than Node.js, of some files or of all. All of them, and beside these, since
// installing waits for the registry, the other supported versions of Node.js.
import { spawn } from "node:child_process";
import { once } from "node:events";

const args = process.argv.slice(2);
const running = [spawn("npx", ["vitest", "run", "--mode", "all", ...args], { stdio: "inherit" })];
if (args.length === 0) running.push(spawn("nice", ["-n", "5", "scripts/nodeVersions.sh"], { stdio: "inherit" }));
const statuses = await Promise.all(running.map(async (child) => (await once(child, "close"))[0]));
process.exitCode = statuses.every((status) => status === 0) ? 0 : 1;
