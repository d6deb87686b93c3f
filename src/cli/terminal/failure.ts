import { CommanderError } from "commander";
import { ConfigError } from "../../config.js";
import { DamagedDatabaseError } from "../../database/embedded/engineFailure.js";
import { mapDatabaseError, unreachableNodeOf } from "../../database/databaseErrors.js";
import { FolderInUseError } from "../../database/open.js";
import { AppError, type Problem } from "../../errors.js";
import { asLines, table } from "./output.js";

/** Exit statuses for scripts; docs/commands.md lists them. */
export const exitStatus = {
  done: 0,
  /** Refused or failed: nothing was stored. */
  failed: 1,
  /** The command line or the environment is invalid. */
  misused: 2,
  /** With `--error-policy reject-failed`: rows failed, and the others are stored. */
  partly: 3,
  /** The database cannot be reached or is in use: a retry may succeed. */
  unavailable: 4,
  /** The files of the embedded database are damaged: a retry does not help. */
  damaged: 5,
} as const;

export function exitStatusOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitStatus.done : exitStatus.misused; // --help exits with 0
  if (error instanceof ConfigError) return exitStatus.misused;
  if (error instanceof FolderInUseError) return exitStatus.unavailable;
  if (error instanceof DamagedDatabaseError) return exitStatus.damaged;
  if (isFileError(error)) return exitStatus.failed;
  const known = mapDatabaseError(error);
  return known instanceof AppError && known.code === "UNAVAILABLE" ? exitStatus.unavailable : exitStatus.failed;
}

/** Excludes sockets: ENOENT of a connection concerns the database, not a file. */
function isFileError(error: unknown): boolean {
  return error instanceof Error && "path" in error && "syscall" in error && error.syscall !== "connect";
}

/** The text for standard error: one line with the reason, then a table of the input's problems. */
export function describeFailure(error: unknown): string {
  if (error instanceof CommanderError) return ""; // commander has printed it already, by describeMisuse
  const reason = `vitrine: ${reasonOf(error)}`;
  if (!(error instanceof AppError) || !hasPlaces(error.problems)) return asLines(reason);
  const more = error.problemsTotal - error.problems.length;
  const rest = more > 0 ? [`… and ${more} more`] : [];
  return asLines([reason, ...[...problemTable(error.problems), ...rest].map((text) => `  ${text}`)]);
}

/** Commander's errors about arguments, in the form of describeFailure. */
export function describeMisuse(text: string): string {
  const reason = text
    .trim()
    .replace(/^error: /u, "")
    .replaceAll(/\s+/gu, " ");
  return asLines(`vitrine: ${reason} (see --help)`);
}

/** The reason already says what a single problem without a line says. */
function hasPlaces(problems: readonly Problem[]): boolean {
  return problems.length > 1 || problems[0]?.line !== undefined;
}

/** Problems of a file by line, column (the field, for events) and reason. */
export function problemTable(problems: readonly Problem[]): string[] {
  const rows = problems.map(({ line, path, message }) => [line?.toString() ?? "", path.join("."), message]);
  return table(["line", "column", "reason"], rows);
}

/** Why something failed, in one line. Of an error of Prisma, its last line, or the database's message in it. */
export function reasonOf(error: unknown): string {
  const known = systemReason(error);
  if (known !== undefined) return known;
  const node = unreachableNodeOf(error);
  if (node !== undefined) return `This needs the Citus node ${node}, which cannot be reached.`;
  const text = error instanceof Error ? error.message || error.name : String(error);
  const last = text.split("\n").findLast((line) => line.trim() !== "");
  const reason = last?.trim() ?? "failed";
  return /^Raw query failed\. Code: \S+ Message: `(.*)`$/u.exec(reason)?.[1] ?? reason;
}

interface SystemError extends NodeJS.ErrnoException {
  readonly address?: string;
  readonly port?: number;
}

/** Why a system call failed that depends on the user: on a file that they named, or on HOST and PORT. */
function systemReason(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, syscall, path, address, port } = error as SystemError;
  if (syscall === "listen" || syscall === "bind") return listenReasons[code ?? ""]?.(`port ${port} on ${address}`);
  if (syscall === "open" || syscall === "stat" || syscall === "read") return fileReasons[code ?? ""]?.(path);
  return undefined;
}

const listenReasons: Readonly<Record<string, (place: string) => string>> = {
  EADDRINUSE: (place) => `The ${place} is in use. Stop the program that listens there, or set PORT to another port.`,
  EACCES: (place) => `This user may not listen on ${place}. Set PORT to one above 1023.`,
  EADDRNOTAVAIL: (place) => `Cannot listen on ${place}: HOST must be an address of this machine.`,
};

const fileReasons: Readonly<Record<string, (path: string | undefined) => string>> = {
  ENOENT: (path) => `There is no file ${path}.`,
  EACCES: (path) => `This user may not read ${path}.`,
  EISDIR: (path) => `${path ?? "It"} is a folder, not a file.`,
};
