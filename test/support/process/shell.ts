import { spawn } from "node:child_process";
import { buffer } from "node:stream/consumers";
import { nodeFlags } from "../run/nodeFlags.js";
import { type Ended, type Place, program, withoutProgress } from "../process.js";

/** What starts the program, for a shell. */
export const programInShell = [process.execPath, ...nodeFlags, program].map((word) => `"${word}"`).join(" ");

/** Runs lines of a shell in which `vitrine` is the program. A pipe fails where one of its commands does. */
export async function shellOf(lines: string, env: Place["env"]): Promise<Ended> {
  const { PATH = "" } = process.env;
  const script = `vitrine() { ${programInShell} "$@"; }\nset -o pipefail\n${lines}`;
  const child = spawn("bash", ["-c", script], { env: { PATH, ...env }, stdio: ["ignore", "pipe", "pipe"] });
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  const [stdout, stderr] = await Promise.all([buffer(child.stdout), buffer(child.stderr)]);
  return { status: await ended, stdout: String(stdout), stderr: withoutProgress(String(stderr)) };
}
