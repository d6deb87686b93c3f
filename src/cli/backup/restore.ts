import type { Command } from "commander";
import { restore } from "../../database/backup/restore.js";
import { foldersOf, isThere } from "../../database/embedded/restored.js";
import { confirm, type ConfirmOptions } from "../terminal/confirm.js";
import { parseName } from "../terminal/name.js";
import { type OutputOptions, print } from "../terminal/output.js";
import { embeddedFolder, withProgress } from "./embedded.js";

const restoreHelp = `
Nothing may use the database meanwhile. What it replaces is kept in the folder before-restore of DATA_DIR, until the next restore.
If the command is killed, the database is the old or the restored one.

Examples:
  npx vitrine restore vitrine.backup
  DATA_DIR=./copy npx vitrine restore vitrine.backup`;

export function addRestoreCommand(program: Command): void {
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
