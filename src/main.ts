#!/usr/bin/env node
import { describeFailure, exitStatusOf } from "./cli/terminal/failure.js";
import { ignoreOutputErrors } from "./cli/terminal/output.js";
import { createProgram } from "./cli/program.js";
import { exitOnSignal } from "./cli/serve/signals.js";

exitOnSignal();
ignoreOutputErrors();

try {
  await createProgram().parseAsync();
} catch (error) {
  process.stderr.write(describeFailure(error));
  process.exitCode = exitStatusOf(error);
}
