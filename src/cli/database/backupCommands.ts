import type { Command } from "commander";
import { backUp, requireEmbedded } from "../../database/backup/backUp.js";
import { withOpenDatabase } from "../runtime.js";
import { addCommand, parseName, confirm, type ConfirmOptions } from "../terminal/command.js";
import { type OutputOptions, print, printError, table } from "../terminal/output.js";
import { beginOutputFile } from "../terminal/outputFile.js";
import { withProgress } from "../terminal/progress.js";
import { readConfig } from "../../config.js";
import { AppError } from "../../errors.js";
import {
  compareAccess,
  type Credentials,
  readCredentials,
  type RestoredAccess,
  revokeReinstated,
} from "../../stores/validity/afterRestore.js";
import { type Query, restore } from "../../database/backup/restore.js";
import { DamagedDatabaseError } from "../../database/embedded/engineFailure.js";
import { count } from "../../lib/text.js";
import { reasonOf } from "../terminal/failure.js";

const backupHelp = `
A running server is not interrupted. The file contains all data of all stores and the hashes of their tokens; only this user can
read it. Back up a PostgreSQL server with pg_dump.

Example:
  npx vitrine backup vitrine.backup`;

export function addBackupCommand(program: Command): void {
  addCommand(program, "backup", "write the embedded database to a file, even while a server uses it", backupHelp)
    .argument("<file>", "to create or replace", parseName)
    .action(async (file: string, options: OutputOptions) => {
      const dataDir = embeddedFolder();
      await requireEmbedded(dataDir);
      const bytes = await writeBackup(dataDir, file);
      await print({ file, bytes }, `The embedded database was written to ${file}, ${bytes} bytes.`, options);
    });
}

/** Creates or replaces the file only when it is complete. @returns its size */
async function writeBackup(dataDir: string, file: string): Promise<number> {
  const output = await beginOutputFile(file);
  try {
    const { bytes } = await withOpenDatabase((database) =>
      withProgress("files", (show) =>
        backUp(database, dataDir, output.draft, (at) => show("copying", at.bytesTotal, at.bytes, at.files)),
      ),
    );
    await output.finish();
    return bytes;
  } finally {
    output.close();
  }
}

/** DATA_DIR. @throws {AppError} BAD_REQUEST if DATABASE_URL names a PostgreSQL server */
function embeddedFolder(): string {
  const { databaseUrl, dataDir } = readConfig();
  if (databaseUrl === undefined) return dataDir;
  throw new AppError(
    "BAD_REQUEST",
    "DATABASE_URL is set: use pg_dump and pg_restore. This is for the embedded database.",
  );
}

const restoreHelp = `
Stop the server first: nothing else may use the database. The replaced database is kept in the folder before-restore of DATA_DIR until
the next restore. If the command is killed, the database is either the old or the restored one.

Access tokens and public keys that were revoked since the backup work again. The command compares the backup with the database that it
replaces, and lists them; if there is no such database, it lists all that work. --revoke-all revokes them.

Examples:
  npx vitrine restore vitrine.backup
  npx vitrine restore vitrine.backup --revoke-all
  DATA_DIR=./copy npx vitrine restore vitrine.backup`;

export function addRestoreCommand(program: Command): void {
  addCommand(program, "restore", "replace the embedded database with a backup", restoreHelp)
    .argument("<file>", "a file that backup wrote", parseName)
    .option("--revoke-all", "revoke the tokens and keys that would work again")
    .option("--yes", "do not ask")
    .action(async (file: string, options: RestoreOptions, command: Command) => {
      const dataDir = embeddedFolder();
      const { previous, review: access } = await withProgress("files", (show, endProgress) =>
        restore(dataDir, file, {
          onProgress: ({ bytesTotal, bytes, files }) => show("restoring", bytesTotal, bytes, files),
          read: readCredentials,
          review(query, replaced) {
            endProgress();
            return reviewAccess(query, replaced, dataDir, options, command);
          },
        }),
      );
      const kept = previous === null ? "" : ` The previous database is in ${previous}.`;
      const revoked = access.revoked ? ` ${tokensAndKeys(access.reinstated)} were revoked.` : "";
      const done = `The embedded database in ${dataDir} was restored.${kept}${revoked}`;
      await print({ file, dataDir, previous, access }, done, options);
    });
}

interface RestoreOptions extends OutputOptions, ConfirmOptions {
  readonly revokeAll?: boolean;
}

/** How a restore changes access, as printed by `--json`. */
interface ReviewedAccess extends RestoredAccess {
  /** Whether there was a database to compare the backup with. */
  readonly compared: boolean;
  /** Whether tokens and keys that would work again were revoked. */
  readonly revoked: boolean;
}

/** Prints how the restore changes access. If it replaces a database, asks whether to go on. */
async function reviewAccess(
  query: Query,
  replaced: Credentials | Error | undefined,
  dataDir: string,
  { revokeAll = false, ...options }: RestoreOptions,
  command: Command,
): Promise<ReviewedAccess> {
  const known = replaced instanceof Error ? undefined : replaced;
  const found = compareAccess(await readCredentials(query), known);
  const access = { compared: known !== undefined, ...found, revoked: revokeAll };
  if (replaced instanceof Error) {
    const reason = replaced instanceof DamagedDatabaseError ? replaced.problem : reasonOf(replaced);
    printError(`vitrine: The database to be replaced cannot be read. ${reason}`);
  }
  printError(describeAccess(access));
  if (replaced !== undefined) await confirm(command, `Replace the embedded database in ${dataDir}?`, options);
  if (revokeAll) await revokeReinstated(query, found.reinstated);
  return access;
}

/** A terminal shows this many lines of each list; JSON has all. */
const listedMax = 100;

function describeAccess({ compared, reinstated, dropped, revoked }: ReviewedAccess): string[] {
  const again = compared
    ? "were revoked, deleted or shortened since the backup and would work again"
    : "are valid in the backup, and may have been revoked since: there is no database to compare it with";
  const remedy = revoked ? "They are revoked." : "Revoke them with --revoke-all, or later one by one.";
  const rows = reinstated.map(({ kind, store, id, label, since, at }) => [
    kind,
    store,
    id,
    label ?? "(no label)",
    since === "unknown" ? "" : [since, ...(at === null ? [] : [at.toISOString()])].join(" "),
  ]);
  const lost = dropped.map(({ kind, store, id, label }) => [kind, store, id, label ?? "(no label)"]);
  return [
    ...listOf(rows, `${tokensAndKeys(reinstated)} ${again}. ${remedy}`),
    ...listOf(lost, `${tokensAndKeys(dropped)} were issued since the backup, and will stop working.`),
  ];
}

function tokensAndKeys(list: readonly { readonly kind: "token" | "key" }[]): string {
  const keys = list.filter(({ kind }) => kind === "key").length;
  return `${count(list.length - keys, "access token")} and ${count(keys, "public key")}`;
}

function listOf(rows: readonly (readonly string[])[], title: string): string[] {
  if (rows.length === 0) return [];
  const more = rows.length - listedMax;
  const [, ...lines] = table(["", "", "", "", ""], rows.slice(0, listedMax));
  return [`vitrine: ${title}`, ...lines.map((line) => `  ${line}`), ...(more > 0 ? [`  … and ${more} more`] : [])];
}
