import type { Readable } from "node:stream";
import pg from "pg";
import { afterAll, inject } from "vitest";
import { createProgram } from "../../src/cli/program.js";
import { describeFailure, exitStatusOf } from "../../src/cli/terminal/failure.js";
import { recordStatement } from "./citus/recording.js";
import type { OpenDatabase } from "../../src/database/open.js";
import { testDatabase } from "./app.js";
import { type Ended, jsonOf, makeSharedPlace, type Place, removePlace } from "./process.js";

interface Surroundings {
  /** Paths are relative to it. */
  readonly folder: string;
  readonly stdin: Readable;
  /** Gets what the command prints, in order. */
  readonly onPrinted: (to: Output, text: string) => void;
}

type Output = "stdout" | "stderr";

/** Commands in one process share its environment and its standard output, so they run one after the other. */
let last: Promise<unknown> = Promise.resolve();

/**
 * Runs a command in the process of the test, as src/main.ts does. A process of its own takes 0.5 to 1 second of CPU time to
 * start; `vitrine` of process.ts starts one, for what has to do with signals, locks and pipes.
 */
export function cli(args: readonly string[], env: Place["env"], at?: Surroundings): Promise<Ended> {
  const run = last.then(() =>
    at === undefined ? runHere(args, env) : runAt(at, () => runHere(args, env, at.onPrinted)),
  );
  last = run.catch(() => undefined);
  return run;
}

/** Runs a command with --json, which must succeed and print one JSON object and nothing else. */
export async function cliJson(args: readonly string[], env: Place["env"]): Promise<any> {
  return jsonOf(args, await cli([...args, "--json"], env));
}

/** The database of the run until the last test of the file, for its commands and for itself. */
export async function openSharedPlace(): Promise<{ readonly place: Place; readonly database: OpenDatabase }> {
  const place = await makeSharedPlace();
  const database = testDatabase();
  afterAll(async () => {
    await database.close();
    await removePlace(place);
  });
  return { place, database };
}

async function runAt<Result>({ folder, stdin }: Surroundings, run: () => Promise<Result>): Promise<Result> {
  const [ownFolder, ownStdin] = [process.cwd(), Object.getOwnPropertyDescriptor(process, "stdin")];
  process.chdir(folder);
  Object.defineProperty(process, "stdin", { configurable: true, value: stdin });
  try {
    return await run();
  } finally {
    process.chdir(ownFolder);
    if (ownStdin !== undefined) Object.defineProperty(process, "stdin", ownStdin);
  }
}

async function runHere(
  args: readonly string[],
  env: Place["env"],
  onPrinted?: Surroundings["onPrinted"],
): Promise<Ended> {
  const { env: ownEnv, exitCode: ownExitCode } = process;
  const [stdout, stderr] = [capture("stdout", onPrinted), capture("stderr", onPrinted)];
  const stopRecording = recordStatements();
  Object.assign(process, { env: { ...env }, exitCode: undefined });
  try {
    await createProgram().parseAsync(args, { from: "user" });
  } catch (error) {
    process.stderr.write(describeFailure(error));
    process.exitCode = exitStatusOf(error);
  }
  const status = Number(process.exitCode ?? 0);
  Object.assign(process, { env: ownEnv, exitCode: ownExitCode });
  stopRecording();
  return { status, stdout: stdout.release(), stderr: stderr.release() };
}

/** Keeps what is written to a stream, until `release` gives it. */
function capture(name: Output, onPrinted?: Surroundings["onPrinted"]): { release(): string } {
  const stream = process[name];
  const write: unknown = Reflect.get(stream, "write");
  let text = "";
  stream.write = (chunk: string | Uint8Array, ...others: unknown[]) => {
    text += String(chunk);
    onPrinted?.(name, String(chunk));
    const done = others.at(-1);
    if (typeof done === "function") process.nextTick(done);
    return true;
  };
  return {
    release() {
      Reflect.set(stream, "write", write);
      return text;
    },
  };
}

/** Records what the command sends to its database, as citus/recordProcess.js does in processes. */
function recordStatements(): () => void {
  const folder = inject("statementsFolder");
  const query: unknown = Reflect.get(pg.Client.prototype, "query");
  const recorded = function (this: pg.Client, ...args: any[]): unknown {
    recordStatement(folder, typeof args[0] === "string" ? args[0] : args[0].text);
    return Reflect.apply(query as () => unknown, this, args);
  };
  Reflect.set(pg.Client.prototype, "query", recorded);
  return () => void Reflect.set(pg.Client.prototype, "query", query);
}
