import type { Command } from "commander";
import { backUp, requireEmbedded } from "../../database/backup/backUp.js";
import { withOpenDatabase } from "../runtime.js";
import { addCommand } from "../terminal/command.js";
import { parseName } from "../terminal/name.js";
import { type OutputOptions, print } from "../terminal/output.js";
import { beginOutputFile } from "../terminal/outputFile.js";
import { withProgress } from "../terminal/progress.js";
import { embeddedFolder } from "./embedded.js";

const backupHelp = `
A server may use the database meanwhile, which is not held up. The file holds all data of all stores, and hashes of tokens; it is
readable by this user alone. A PostgreSQL server is backed up by pg_dump.

Example:
  npx vitrine backup vitrine.backup`;

export function addBackupCommand(program: Command): void {
  addCommand(program, "backup", "write the embedded database to a file, also while a server uses it", backupHelp)
    .argument("<file>", "to create or replace", parseName)
    .action(async (file: string, options: OutputOptions) => {
      const dataDir = embeddedFolder();
      await requireEmbedded(dataDir);
      const bytes = await writeBackup(dataDir, file);
      await print({ file, bytes }, `The embedded database was written to ${file}, ${bytes} bytes.`, options);
    });
}

/** @returns the size of the file, which appears or is replaced only when it is complete */
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
