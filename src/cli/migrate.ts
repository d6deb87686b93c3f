import type { Command } from "commander";
import { readConfig } from "../config.js";
import { migrate } from "../database/migrate.js";
import { openDatabase } from "../database/open.js";
import { type OutputOptions, print } from "./runtime.js";

/** `vitrine migrate` */
export function addMigrateCommand(program: Command): void {
  program
    .command("migrate")
    .description("apply the migrations that the database does not have yet")
    .option("--json", "print one JSON object")
    .addHelpText("after", "\nExample:\n  DATABASE_URL=postgres://… npx vitrine migrate")
    .action(async (options: OutputOptions) => {
      const database = await openDatabase(readConfig(), "shared", () => undefined);
      try {
        const applied = await migrate(database.connection);
        print({ applied }, applied.length === 0 ? "Nothing to apply." : `Applied ${applied.join(", ")}.`, options);
      } finally {
        await database.close();
      }
    });
}
