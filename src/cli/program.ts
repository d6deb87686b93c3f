import { Command } from "commander";
import { addAnalyticsCommands } from "./analytics.js";
import { addEventsCommand } from "./events.js";
import { describeMisuse } from "./failure.js";
import { addImportCommand } from "./import.js";
import { addMigrateCommand } from "./migrate.js";
import { addServeCommand } from "./serve.js";
import { addSiteCommands } from "./site.js";
import { addStoreCommands } from "./store.js";
import { addTokenCommands } from "./token.js";

/** The command line, without anything run yet. */
export function createProgram(): Command {
  const program = new Command("vitrine")
    .description("GraphQL gateway with a REST compatibility layer for product catalogs and live shopping analytics")
    .configureOutput({ outputError: (text, write) => write(describeMisuse(text)) });
  addServeCommand(program);
  addMigrateCommand(program);
  addStoreCommands(program);
  addTokenCommands(program);
  addSiteCommands(program);
  addImportCommand(program);
  addEventsCommand(program);
  addAnalyticsCommands(program);
  return program;
}
