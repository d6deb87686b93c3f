import { CommanderError } from "commander";
import { ConfigError } from "../../config.js";
import { mapDatabaseError } from "../../database/errors.js";
import { FolderInUseError } from "../../database/open.js";
import { AppError, type Problem } from "../../errors.js";
import { reasonOf } from "./reason.js";
import { table } from "./table.js";

/** How a command ends, for scripts. docs/operations.md lists the same. */
export const exitStatus = {
  done: 0,
  /** It was refused, or failed; what was to be stored is not. */
  failed: 1,
  /** The command line or the environment is wrong; nothing was tried. */
  misused: 2,
  /** Rows of a file failed; the others are stored, as `--error-policy reject-failed` has it. */
  partly: 3,
  /** The database cannot be reached or is in use: the same command may succeed later. */
  unavailable: 4,
} as const;

/** The exit status for what a command threw. */
export function exitStatusOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitStatus.done : exitStatus.misused; // 0: --help
  if (error instanceof ConfigError) return exitStatus.misused;
  if (error instanceof FolderInUseError) return exitStatus.unavailable;
  if (isFileError(error)) return exitStatus.failed;
  const known = mapDatabaseError(error);
  return known instanceof AppError && known.code === "UNAVAILABLE" ? exitStatus.unavailable : exitStatus.failed;
}

/** A file that is not there has the code of a socket that is not there. */
function isFileError(error: unknown): boolean {
  return error instanceof Error && "path" in error && "syscall" in error && error.syscall !== "connect";
}

/** What a failed command says on standard error: one line with the reason, then a table of the problems of the input. */
export function describeFailure(error: unknown): string {
  if (error instanceof CommanderError) return ""; // commander has said it, by describeMisuse
  const reason = `vitrine: ${reasonOf(error)}`;
  if (!(error instanceof AppError) || !hasPlaces(error.problems)) return `${reason}\n`;
  const more = error.problemsTotal - error.problems.length;
  const rest = more > 0 ? [`… and ${more} more`] : [];
  return `${[reason, ...[...problemTable(error.problems), ...rest].map((text) => `  ${text}`)].join("\n")}\n`;
}

/** What commander says of arguments that it cannot take, in the same form. */
export function describeMisuse(text: string): string {
  return `vitrine: ${text
    .trim()
    .replace(/^error: /u, "")
    .replaceAll(/\s+/gu, " ")} (add --help for what it takes)\n`;
}

/** One problem without a line is told by the reason alone. */
function hasPlaces(problems: readonly Problem[]): boolean {
  return problems.length > 1 || problems[0]?.line !== undefined;
}

/** Problems of a file by line, column (in an event: field) and reason. */
export function problemTable(problems: readonly Problem[]): string[] {
  const rows = problems.map(({ line, path, message }) => [line?.toString() ?? "", path.join("."), message]);
  return table(["line", "column", "reason"], rows);
}
