import cluster from "node:cluster";
import { Command } from "commander";
import { misspelledVariables } from "../config.js";
import { addAnalyticsCommands } from "./shows/analyticsCommands.js";
import { addBackupCommand, addRestoreCommand } from "./database/backupCommands.js";
import { addDistributeCommand, addMigrateCommand } from "./database/migrateCommand.js";
import { addDoctorCommand } from "./doctor/doctor.js";
import { addEventsCommands } from "./shows/eventsCommands.js";
import { addExportCommand } from "./products/exportCommand.js";
import { describeMisuse } from "./terminal/failure.js";
import { addImportCommand } from "./products/importCommand.js";
import { addKeyCommands } from "./stores/keyCommands.js";
import { warn } from "./runtime.js";
import { addServeCommand } from "./serve/serve.js";
import { addShowCommands } from "./shows/showCommands.js";
import { addSiteCommands } from "./stores/siteCommands.js";
import { packageVersion } from "../lib/packageFiles.js";
import { addStoreCommands } from "./stores/storeCommands.js";
import { addViewerCommands } from "./shows/viewerCommand.js";
import { addAttributionCommands } from "./orders/attributionCommands.js";
import { addHookCommands } from "./orders/hookCommands.js";
import { addOrdersCommands } from "./orders/ordersCommands.js";
import { addTokenCommands } from "./stores/tokenCommands.js";

const help = `
Each command has a --help with an example. With --json it prints one JSON object on standard output.

Exit status: 0 done, 1 refused or failed, 2 wrong command line or environment, 3 rows of a file failed and the others are stored
(import --error-policy reject-failed), 4 the database is unavailable, 5 the files of the embedded database are damaged.`;

/** Defines all commands. Parsing throws CommanderError instead of ending the process. */
export function createProgram(): Command {
  const program = new Command("vitrine")
    .description("GraphQL gateway with a REST compatibility layer for product catalogs and live shopping analytics")
    .version(packageVersion())
    .addHelpText("after", help)
    .exitOverride()
    .hook("preAction", warnOfMisspelledVariables)
    .configureOutput({ outputError: (text, write) => write(describeMisuse(text)) });
  addServeCommand(program);
  addMigrateCommand(program);
  addDistributeCommand(program);
  addDoctorCommand(program);
  addBackupCommand(program);
  addRestoreCommand(program);
  addStoreCommands(program);
  addTokenCommands(program);
  addKeyCommands(program);
  addSiteCommands(program);
  addImportCommand(program);
  addExportCommand(program);
  addShowCommands(program);
  addViewerCommands(program);
  addEventsCommands(program);
  addAnalyticsCommands(program);
  addOrdersCommands(program);
  addAttributionCommands(program);
  addHookCommands(program);
  return program;
}

/** Nothing else would show a misspelled variable: without DATABASE_URL, for example, Vitrine uses the embedded database. */
function warnOfMisspelledVariables(): void {
  if (cluster.isWorker) return; // the primary has warned already
  for (const { name, meant } of misspelledVariables())
    warn(new Error(`Unknown variable ${name}. Did you mean ${meant}?`));
}
