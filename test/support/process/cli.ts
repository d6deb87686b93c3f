import type { Readable } from "node:stream";
import pg from "pg";
import { afterAll, inject } from "vitest";
import { createProgram } from "../../../src/cli/program.js";
import { describeFailure, exitStatusOf } from "../../../src/cli/terminal/failure.js";
import { recordStatement } from "../citus/recording.js";
import type { OpenDatabase } from "../../../src/database/open.js";
import { testDatabase } from "../app.js";
import { withoutProgress } from "../busy.js";
import { type Ended, jsonOf, makeSharedPlace, type Place, removePlace } from "../process.js";

/** A part of what a command printed. */
interface Printed {
  readonly to: "stdout" | "stderr";
  text: string;
}

/** A command that has ended, with what it printed in order. */
interface EndedHere {
  readonly status: number;
  readonly printed: readonly Printed[];
}

/** Commands in one process share its environment and its standard output, so they run one after the other. */
let last: Promise<unknown> = Promise.resolve();

/**
 * Runs a command in the process of the test, as src/main.ts does. A process of its own takes 0.5 to 1 second of CPU time to
 * start; `vitrine` of process.ts starts one, for what has to do with signals, locks and pipes.
 */
export async function cli(args: readonly string[], env: Place["env"]): Promise<Ended> {
  const { status, printed } = await inTurn(() => runHere(args, env));
  const textOf = (output: Printed["to"]) => printed.map(({ to, text }) => (to === output ? text : "")).join("");
  return { status, stdout: textOf("stdout"), stderr: withoutProgress(textOf("stderr")) };
}

/** Runs a command as `cli` does, in a folder and with a standard input of its own. */
export function cliIn(folder: string, stdin: Readable, args: readonly string[], env: Place["env"]): Promise<EndedHere> {
  return inTurn(async () => {
    const [ownFolder, ownStdin] = [process.cwd(), Object.getOwnPropertyDescriptor(process, "stdin")];
    process.chdir(folder);
    Object.defineProperty(process, "stdin", { configurable: true, value: stdin });
    try {
      return await runHere(args, env);
    } finally {
      process.chdir(ownFolder);
      if (ownStdin !== undefined) Object.defineProperty(process, "stdin", ownStdin);
    }
  });
}

function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
  const run = last.then(work);
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

async function runHere(args: readonly string[], env: Place["env"]): Promise<EndedHere> {
  const { env: ownEnv, exitCode: ownExitCode } = process;
  const printed: Printed[] = [];
  const restores = [capture("stdout", printed), capture("stderr", printed)];
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
  for (const restore of restores) restore();
  return { status, printed };
}

/** Keeps what is written to an output. @returns ends that */
function capture(to: Printed["to"], printed: Printed[]): () => void {
  const stream = process[to];
  const write: unknown = Reflect.get(stream, "write");
  stream.write = (chunk: string | Uint8Array, ...others: unknown[]) => {
    const latest = printed.at(-1);
    if (latest?.to === to) latest.text += String(chunk);
    else printed.push({ to, text: String(chunk) });
    const done = others.at(-1);
    if (typeof done === "function") process.nextTick(done);
    return true;
  };
  return () => void Reflect.set(stream, "write", write);
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
