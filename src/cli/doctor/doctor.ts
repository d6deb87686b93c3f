import type { Command } from "commander";
import { type Config, ConfigError, misspelledVariables, readConfig } from "../../config.js";
import { checkDatabase } from "./databaseChecks.js";
import { type Check, failed, ok, warning } from "./doctorCheck.js";
import { checkClock, checkDisk, checkNode, checkPort, checkRedis, checkProxy } from "./machineChecks.js";
import { addCommand } from "../terminal/command.js";
import { exitStatus } from "../terminal/failure.js";
import { type OutputOptions, print, table } from "../terminal/output.js";

const help = `
It changes nothing. If a check fails, the exit status is 1.

Example:
  DATABASE_URL=postgres://… npx vitrine doctor`;

export function addDoctorCommand(program: Command): void {
  const description = "check the environment, the database and this machine, and say what to do";
  addCommand(program, "doctor", description, help).action(async (options: OutputOptions) => {
    const checks = await examine();
    const isOk = checks.every(({ status }) => status !== "failed");
    await print({ ok: isOk, checks }, describe(checks), options);
    if (!isOk) process.exitCode = exitStatus.failed;
  });
}

/** Runs all checks. If the environment is invalid, runs only those that do not need it. */
async function examine(): Promise<readonly Check[]> {
  let config: Config;
  try {
    config = readConfig();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [
      checkNode(),
      failed("environment", error.message, "Correct these variables; docs/configuration.md lists all of them."),
    ];
  }
  const misspelled = misspelledVariables();
  const environment =
    misspelled.length === 0
      ? ok("environment", "every variable is valid")
      : warning(
          "environment",
          `unknown variables: ${misspelled.map(({ name }) => name).join(", ")}`,
          `Did you mean ${misspelled.map(({ meant }) => meant).join(", ")}?`,
        );
  const [database, ...others] = await Promise.all([
    checkDatabase(config),
    checkRedis(config),
    checkDisk(config),
    checkPort(config),
  ]);
  const isServed = others.some(({ name, status }) => name === "port" && status === "warning");
  const proxy = isServed ? await checkProxy(config) : [];
  return [checkNode(), environment, ...database.checks, checkClock(database.now), ...others, ...proxy];
}

function describe(checks: readonly Check[]): string[] {
  const rows = checks.flatMap(({ name, status, detail, advice }) => [
    [status, name, detail],
    ...(advice === undefined ? [] : [["", "", `→ ${advice}`]]),
  ]);
  return table(["", "", ""], rows).slice(1);
}
