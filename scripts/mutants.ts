// `npm run test:mutants [-- OPTIONS]`: how many of sixty small faults (mutants.list.ts) the tests notice. Each is made in a copy of
// the working tree, where the tests nearest to it run first. Those that live go through all tests. It takes an hour or longer, and
// the databases and browsers of the environment (CONTRIBUTING.md), as the tests do.
//   --only TEXT        faults whose names have this text
//   --from N, --to M   the Nth fault to the Mth
//   --nearest          the nearest tests alone
// The exit status is 1 where more than five faults are not noticed.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { constants, tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { mutants } from "./mutants.list.js";
import type { Mutant } from "./mutants.type.js";

const notKilledMax = 5;
const minuteMs = 60_000;
/** Tests that take longer hang, for all that is known: a fault that makes them do so is noticed. */
const limitMs = { build: 5 * minuteMs, nearest: 15 * minuteMs, all: 60 * minuteMs } as const;
/** What a run may do to end by itself, once it is asked to. */
const graceMs = 10_000;
const outputCharactersMax = 100_000;
/** Tests of `npm test`, or of `npm run test:all`, which has the others. Vitest runs those of its mode. */
const tiers = ["test", "all"] as const;
type Tier = (typeof tiers)[number];

type Verdict =
  | { readonly kind: "killed"; readonly by: string }
  | { readonly kind: "ALIVE"; readonly files: number }
  /** The run failed for another reason than a test. */
  | { readonly kind: "UNCLEAR"; readonly reason: string };

interface Ended {
  readonly status: number | null;
  readonly output: string;
  readonly isLate: boolean;
}

/** What Vitest writes of a test file with `--reporter=json`. */
interface FileResult {
  readonly name: string;
  readonly status: string;
  readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
}

const { values: options } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    from: { type: "string", default: "1" },
    to: { type: "string", default: String(mutants.length) },
    nearest: { type: "boolean", default: false },
  },
});

const testFiles = readdirSync("test", { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".test.ts"))
  .map((name) => `test/${name}`);
requireFitting();
const chosen = mutants
  .slice(Number(options.from) - 1, Number(options.to))
  .filter(({ name }) => name.toLowerCase().includes(options.only.toLowerCase()));
let running: ChildProcess | undefined;
const folder = copyTree();
removeAtExit();
const survivors = await judgeAll(chosen, limitMs.nearest, nearestOf);
const left = options.nearest ? survivors : await judgeAll(survivors, limitMs.all, allOf);
const killed = chosen.length - left.length;
process.stdout.write(`killed ${killed} of ${chosen.length}\n`);
process.exitCode = left.length > notKilledMax ? 1 : 0;

/** @throws where a fault cannot be made any more, or no tests are near it, naming each */
function requireFitting(): void {
  const problems = mutants.flatMap((mutant) => {
    const problem = problemOf(mutant);
    return problem === undefined ? [] : [`${mutant.file}: ${problem}: ${mutant.name}`];
  });
  if (mutants.length < 60) problems.push(`There are ${mutants.length} faults, not 60.`);
  if (problems.length > 0)
    throw new Error(`The list of faults does not fit the code any more.\n${problems.join("\n")}`);
}

function problemOf(mutant: Mutant): string | undefined {
  const { file, from, to } = mutant;
  if (!existsSync(file)) return "there is no such file";
  const times = readFileSync(file, "utf8").split(from).length - 1;
  if (times !== 1) return `what is to be replaced occurs ${times} times`;
  if (from.includes("\n") || to.includes("\n") || from === to) return "a fault is a change of one line";
  const nearest = nearestTests(mutant);
  return nearest.length > 0 && nearest.every(hasTests)
    ? undefined
    : "no tests are near it, or none at a path that it names";
}

/** Paths for Vitest, which runs all files whose path has one of them. */
function nearestTests({ file, tests }: Mutant): readonly string[] {
  if (tests !== undefined) return tests;
  const mirror = dirname(file).replace(/^src/u, "test");
  const found = [mirror, dirname(mirror)].map((path) => `${path}/`).find(hasTests);
  return found === undefined || found === "test/" ? [] : [found];
}

function hasTests(start: string): boolean {
  return testFiles.some((file) => file.startsWith(start));
}

/**
 * Copies the files that are tracked or new, and what was built from them. Each package is a link of its own, so that what Vitest and
 * Vite keep in node_modules is gone with the copy.
 */
function copyTree(): string {
  const copy = mkdtempSync(join(tmpdir(), "vitrine-mutants-"));
  chmodSync(copy, 0o755); // some tests run the program as other users
  const args = ["ls-files", "-coz", "--exclude-standard"];
  const { stdout, status } = spawnSync("git", args, { encoding: "utf8", maxBuffer: 1e8 });
  if (status !== 0) throw new Error("The files cannot be listed: this is no git repository, or there is no git.");
  const files = stdout.split("\0").filter((file) => file !== "");
  for (const path of [...files, "dist", "src/generated"]) {
    if (existsSync(path)) cpSync(path, join(copy, path), { recursive: true, preserveTimestamps: true });
  }
  mkdirSync(join(copy, "node_modules"));
  const packages = readdirSync("node_modules").filter((name) => !/^\.(?:vite|experimental)/u.test(name));
  for (const name of packages) symlinkSync(resolve("node_modules", name), join(copy, "node_modules", name));
  return copy;
}

/** Also after an interrupt. */
function removeAtExit(): void {
  process.once("exit", () => {
    end("SIGKILL");
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  });
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => process.exit(128 + constants.signals[signal]));
  }
}

/** Ends what runs, with all that it has started. */
function end(signal: NodeJS.Signals): void {
  if (running?.pid === undefined) return;
  try {
    process.kill(-running.pid, signal);
  } catch {
    // It has ended.
  }
}

/** It takes arguments of Vitest after its own. */
type Command = readonly [name: string, ...args: string[]];

function nearestOf(mutant: Mutant, tier: Tier): Command {
  return [...vitest(tier, nearestTests(mutant)), "--passWithNoTests"];
}

function allOf(_: Mutant, tier: Tier): Command {
  return ["npm", "run", tier === "all" ? "test:all" : "test", "--"];
}

function vitest(tier: Tier, tests: readonly string[]): Command {
  return ["npx", "vitest", "run", "--mode", tier, ...tests];
}

/** @returns those that are not killed, in their order */
async function judgeAll(
  all: readonly Mutant[],
  timeLimitMs: number,
  commandOf: typeof nearestOf,
): Promise<readonly Mutant[]> {
  const notKilled: Mutant[] = [];
  for (const mutant of all) {
    const startedAt = performance.now();
    const verdict = await judge(mutant, timeLimitMs, commandOf);
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1).padStart(7);
    const details = verdict.kind === "killed" ? `  (${verdict.by})` : "";
    process.stdout.write(`${verdict.kind.padEnd(7)}${seconds} s  ${mutant.name}${details}\n`);
    if (verdict.kind === "UNCLEAR") process.stdout.write(`${verdict.reason.replaceAll(/^/gmu, "        ")}\n`);
    if (verdict.kind !== "killed") notKilled.push(mutant);
  }
  return notKilled;
}

/** Makes the fault in the copy, builds it for the tests that run dist/, and takes it back afterwards. */
async function judge(mutant: Mutant, timeLimitMs: number, commandOf: typeof nearestOf): Promise<Verdict> {
  const path = join(folder, mutant.file);
  const text = readFileSync(path, "utf8");
  writeFileSync(
    path,
    text.replace(mutant.from, () => mutant.to),
  );
  removeBuilt(mutant);
  try {
    const built = await run(["node", "scripts/build.js"], limitMs.build);
    if (built.status !== 0) return { kind: "UNCLEAR", reason: `It cannot be built.\n${endOf(built)}` };
    let files = 0;
    for (const tier of tiers) {
      const verdict = await runTests(commandOf(mutant, tier), tier, timeLimitMs);
      if (verdict.kind !== "ALIVE") return verdict;
      files += verdict.files;
    }
    return files === 0 ? { kind: "UNCLEAR", reason: "No test was found." } : { kind: "ALIVE", files };
  } finally {
    writeFileSync(path, text); // now newer than dist/, so that the next build makes that anew
    removeBuilt(mutant);
  }
}

/** Removes what a build would keep beside its own: a test adds up the sizes of all files of the dashboard. */
function removeBuilt({ file }: Mutant): void {
  const built = file.startsWith("src/dashboard/") ? "dist/dashboard" : "dist/chunks";
  rmSync(join(folder, built), { recursive: true, force: true });
}

/** Runs tests until the first one fails, whose file is run again then: it may have failed because the machine is busy. */
async function runTests(command: Command, tier: Tier, timeLimitMs: number): Promise<Verdict> {
  const { ended, results } = await report(command, timeLimitMs);
  if (ended.isLate) return { kind: "killed", by: `tests did not end within ${timeLimitMs / minuteMs} minutes` };
  if (ended.status === 0) return { kind: "ALIVE", files: results.length };
  const failed = results.find((file) => failureOf(file) !== undefined) ?? results.find(hasFailedHook);
  if (failed !== undefined) {
    const file = relative(folder, failed.name);
    const again = await report(vitest(tier, [file]), timeLimitMs);
    if (again.ended.status === 0) return { kind: "UNCLEAR", reason: `${file} fails, and passes when it is run again.` };
    return { kind: "killed", by: `${file}: ${failureOf(failed) ?? "a hook"}` };
  }
  // As for a statement that Citus would not take (test/support/setups/statements.setup.ts).
  const havePassed = results.length > 0 && results.every(({ status }) => status === "passed");
  if (havePassed) return { kind: "killed", by: "no test, but what the run looks at after them" };
  return { kind: "UNCLEAR", reason: endOf(ended) };
}

async function report(
  command: Command,
  timeLimitMs: number,
): Promise<{ ended: Ended; results: readonly FileResult[] }> {
  const file = join(folder, "mutants.report.json");
  rmSync(file, { force: true });
  const [name, ...args] = command;
  const reporting = ["--bail", "1", "--reporter=default", "--reporter=json", `--outputFile.json=${file}`];
  const ended = await run([name, ...args, ...reporting], timeLimitMs);
  if (!existsSync(file)) return { ended, results: [] };
  const { testResults } = JSON.parse(readFileSync(file, "utf8")) as { testResults: readonly FileResult[] };
  return { ended, results: testResults };
}

/** Whether a hook of a file has failed, and not the file itself, such as an import. */
function hasFailedHook({ status, assertionResults }: FileResult): boolean {
  return status === "failed" && assertionResults.length > 0;
}

/** The name of the first test that failed. */
function failureOf({ assertionResults }: FileResult): string | undefined {
  return assertionResults.find(({ status }) => status === "failed")?.fullName.trim();
}

function endOf({ output }: Ended): string {
  return output.trimEnd().split("\n").slice(-15).join("\n");
}

/** Runs a command in the copy, with the environment of this one. It ends with all that it has started when its time is up. */
async function run([name, ...args]: Command, timeLimitMs: number): Promise<Ended> {
  const env = { ...process.env, NO_COLOR: "1" };
  const child = spawn(name, args, { cwd: folder, detached: true, stdio: ["ignore", "pipe", "pipe"], env });
  running = child;
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => (output = `${output}${text}`.slice(-outputCharactersMax)));
  }
  let isLate = false;
  const timers = [
    setTimeout(() => {
      isLate = true;
      end("SIGTERM");
    }, timeLimitMs),
    setTimeout(() => end("SIGKILL"), timeLimitMs + graceMs),
  ];
  const status = await new Promise<number | null>((resolveStatus, reject) => {
    child.once("error", reject);
    child.once("close", resolveStatus);
  });
  for (const timer of timers) clearTimeout(timer);
  running = undefined;
  return { status, output, isLate };
}
