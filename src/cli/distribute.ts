import type { Command } from "commander";
import { readConfig } from "../config.js";
import { distribute } from "../database/distribute.js";
import { openDatabase } from "../database/open.js";
import { migrateIfNeeded, type OutputOptions, print, warn } from "./runtime.js";

const help = `
Run it once, and again after each migration that makes tables. It does nothing where nothing is left to do, and is refused
where the database has no Citus. docs/scale.md tells when to use it.

Example:
  DATABASE_URL=postgres://… npx vitrine distribute`;

/** `vitrine distribute` */
export function addDistributeCommand(program: Command): void {
  program
    .command("distribute")
    .description("spread the tables over the nodes of Citus, by store")
    .option("--json", "print one JSON object")
    .addHelpText("after", help)
    .action(async (options: OutputOptions) => {
      const config = readConfig();
      const database = await openDatabase(config, "shared", warn);
      try {
        await migrateIfNeeded(database, config);
        const distributed = await distribute(database.connection);
        const text = distributed.length === 0 ? "Nothing to distribute." : `Distributed ${distributed.join(", ")}.`;
        print({ distributed }, text, options);
      } finally {
        await database.close();
      }
    });
}
