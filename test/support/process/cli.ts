import { randomUUID } from "node:crypto";
import { mkdtemp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Readable, Writable } from "node:stream";
import pg from "pg";
import { afterAll, expect, inject } from "vitest";
import { createStore } from "../../../src/stores/store.js";
import { createProgram } from "../../../src/cli/program.js";
import { describeFailure, exitStatusOf } from "../../../src/cli/terminal/failure.js";
import type { OpenDatabase } from "../../../src/database/open.js";
import { testDatabase } from "../app.js";
import { recordStatement } from "../citus/recording.js";
import { type Ended, jsonOf, makeSharedPlace, type Place, removePlace, withoutProgress } from "../process.js";

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

/** What a command has of its own; otherwise that of the tests. */
interface Surroundings {
  readonly folder?: string;
  readonly stdin?: Readable;
  /** What fails where something is written to standard output. */
  readonly outputError?: Error;
}

/** Commands in one process share its environment and its standard output, so they run one after the other. */
let last: Promise<unknown> = Promise.resolve();

/**
 * Runs a command in the process of the test, as src/main.ts does. A process of its own takes 0.5 to 1 second of CPU time to
 * start; `vitrine` of process.ts starts one, for what has to do with signals, locks and pipes.
 */
export async function cli(
  args: readonly string[],
  env: Place["env"],
  surroundings: Surroundings = {},
): Promise<Ended & { readonly status: number }> {
  const { status, printed } = await cliIn(surroundings, args, env);
  const textOf = (output: Printed["to"]) => printed.map(({ to, text }) => (to === output ? text : "")).join("");
  return { status, stdout: textOf("stdout"), stderr: withoutProgress(textOf("stderr")) };
}

/** Runs a command as `cli` does. */
export function cliIn(surroundings: Surroundings, args: readonly string[], env: Place["env"]): Promise<EndedHere> {
  const run = last.then(async () => {
    const { folder, stdin, outputError } = surroundings;
    const [ownFolder, ownStdin] = [process.cwd(), Object.getOwnPropertyDescriptor(process, "stdin")];
    if (folder !== undefined) process.chdir(folder);
    if (stdin !== undefined) Object.defineProperty(process, "stdin", { configurable: true, value: stdin });
    try {
      return await runHere(args, env, outputError);
    } finally {
      process.chdir(ownFolder);
      if (ownStdin !== undefined) Object.defineProperty(process, "stdin", ownStdin);
    }
  });
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

/** What tests of commands do with the database of the run, until the last test of the file. */
export async function openCommands() {
  const { place, database } = await openSharedPlace();
  const { env, dataDir } = place;
  return {
    env,
    /** For temporary files of commands. */
    temporary: place.temporary,
    db: database.client,
    run: (...args: string[]) => cli(args, env),
    json: (...args: string[]) => cliJson(args, env),
    /** Runs a command that must be refused without any output: its exit status, and what it says. */
    refusal: async (...args: string[]): Promise<[status: number, reason: string]> => {
      const { status, stdout, stderr } = await cli(args, env);
      expect([args, stdout]).toEqual([args, ""]);
      return [status, stderr.replace(/^vitrine: /u, "").trimEnd()];
    },
    newStore: async (): Promise<string> =>
      (await createStore(database.client, `store-${randomUUID()}`, "Test store")).store,
    /** Writes a file into a folder of its own. */
    fileOf: async (content: string | Uint8Array, name: string): Promise<string> => {
      const file = join(await mkdtemp(join(dataDir, "files-")), name);
      await writeFile(file, content);
      return file;
    },
  };
}

async function runHere(args: readonly string[], env: Place["env"], outputError?: Error): Promise<EndedHere> {
  const { env: ownEnv, exitCode: ownExitCode } = process;
  const printed: Printed[] = [];
  const restores = [capture("stdout", printed, outputError), capture("stderr", printed)];
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

/** Keeps what is written to an output, or fails. A stream is fit for one command: some end it. @returns ends that */
function capture(to: Printed["to"], printed: Printed[], fault: Error | null = null): () => void {
  const own = Object.getOwnPropertyDescriptor(process, to);
  const stream = new Writable({
    write(chunk, _, done) {
      const latest = printed.at(-1);
      if (fault === null && latest?.to === to) latest.text += String(chunk);
      else if (fault === null) printed.push({ to, text: String(chunk) });
      done(fault);
    },
  });
  stream.on("error", () => undefined); // as src/main.ts does
  Object.defineProperty(process, to, { configurable: true, value: stream });
  return () => void (own !== undefined && Object.defineProperty(process, to, own));
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
