#!/usr/bin/env node
import { describeFailure, exitStatusOf } from "./cli/failure.js";
import { surviveClosedOutput } from "./cli/output.js";
import { createProgram } from "./cli/program.js";
import { exitOnSignal } from "./cli/signals.js";

exitOnSignal();
surviveClosedOutput();

try {
  await createProgram().parseAsync();
} catch (error) {
  process.stderr.write(describeFailure(error));
  process.exitCode = exitStatusOf(error);
}
