import type { Command } from "commander";
import { readConfig } from "../config.js";
import { backUp, requireEmbedded, restore } from "../database/backup.js";
import { foldersOf, isThere } from "../database/embedded/restored.js";
import { AppError } from "../errors.js";
import { confirm, type ConfirmOptions } from "./terminal/confirm.js";
import { parseName } from "./terminal/name.js";
import { beginOutputFile } from "./terminal/outputFile.js";
import { type OutputOptions, print } from "./terminal/output.js";
import { type Progress, startProgress } from "./terminal/progress.js";
import { withOpenDatabase } from "./runtime.js";

const backupHelp = `
A server may use the database meanwhile: its requests wait until the files are copied. The file holds all data of all stores,
and hashes of tokens; it is readable by this user alone. A PostgreSQL server is backed up by pg_dump.

Example:
  npx vitrine backup vitrine.backup`;

const restoreHelp = `
Nothing may use the database meanwhile. What it replaces is kept in the folder before-restore of DATA_DIR, until the next restore.
If the command is killed, the database is the old or the restored one.

Examples:
  npx vitrine restore vitrine.backup
  DATA_DIR=./copy npx vitrine restore vitrine.backup`;

export function addBackupCommands(program: Command): void {
  program
    .command("backup")
    .description("write the embedded database to a file, also while a server uses it")
    .argument("<file>", "to create or replace", parseName)
    .option("--json", "print one JSON object")
    .addHelpText("after", backupHelp)
    .action(async (file: string, options: OutputOptions) => {
      const dataDir = embeddedFolder();
      await requireEmbedded(dataDir);
      const bytes = await writeBackup(dataDir, file);
      await print({ file, bytes }, `The embedded database was written to ${file}, ${bytes} bytes.`, options);
    });

  program
    .command("restore")
    .description("replace the embedded database by that of a backup")
    .argument("<file>", "as backup wrote it", parseName)
    .option("--yes", "do not ask")
    .option("--json", "print one JSON object")
    .addHelpText("after", restoreHelp)
    .action(async (file: string, options: OutputOptions & ConfirmOptions, command: Command) => {
      const dataDir = embeddedFolder();
      if (await isThere(foldersOf(dataDir).database)) {
        await confirm(command, `Replace the embedded database in ${dataDir}?`, options);
      }
      const { previous } = await withProgress("restoring", (onProgress) => restore(dataDir, file, onProgress));
      const kept = previous === null ? "" : ` The previous database is in ${previous}.`;
      await print({ file, dataDir, previous }, `The embedded database in ${dataDir} was restored.${kept}`, options);
    });
}

/** @returns the size of the file, which appears or is replaced only when it is complete */
async function writeBackup(dataDir: string, file: string): Promise<number> {
  const output = await beginOutputFile(file);
  try {
    const { bytes } = await withOpenDatabase((database) =>
      withProgress("copying", (onProgress) => backUp(database, dataDir, output.draft, onProgress)),
    );
    await output.finish();
    return bytes;
  } finally {
    output.close();
  }
}

/** @throws {AppError} BAD_REQUEST where a PostgreSQL server is used */
function embeddedFolder(): string {
  const { databaseUrl, dataDir } = readConfig();
  if (databaseUrl === undefined) return dataDir;
  throw new AppError(
    "BAD_REQUEST",
    "DATABASE_URL is set: use pg_dump and pg_restore. This is for the embedded database.",
  );
}

type OnProgress = Parameters<typeof restore>[2];

async function withProgress<Result>(label: string, work: (onProgress: OnProgress) => Promise<Result>): Promise<Result> {
  let bar: Progress | undefined;
  try {
    return await work(({ bytes, bytesTotal, files }) => {
      bar ??= startProgress({ label, total: bytesTotal, items: "files" });
      bar.update(bytes, files);
    });
  } finally {
    bar?.stop();
  }
}
