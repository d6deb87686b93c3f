import type { Command } from "commander";
import { migrate } from "../../database/migrations/migrate.js";
import { addCommand } from "../terminal/command.js";
import { type OutputOptions, print } from "../terminal/output.js";
import { warn, withOpenDatabase, migrateIfNeeded } from "../runtime.js";
import { readConfig } from "../../config.js";
import { distribute, requireCitus, withoutCitus } from "../../database/migrations/distribute.js";

export function addMigrateCommand(program: Command): void {
  const help = "\nExample:\n  DATABASE_URL=postgres://… npx vitrine migrate";
  addCommand(program, "migrate", "apply pending migrations to the database", help).action(
    async (options: OutputOptions) => {
      const applied = await withOpenDatabase(({ connection }) => migrate(connection, warn));
      await print({ applied }, applied.length === 0 ? "Nothing to apply." : `Applied ${applied.join(", ")}.`, options);
    },
  );
}

const help = `
Run it once, and again after each migration that creates tables. If all tables are distributed already, it does nothing. It fails if
the database has no Citus. docs/citus.md says when to use it.

Example:
  DATABASE_URL=postgres://… npx vitrine distribute`;

export function addDistributeCommand(program: Command): void {
  addCommand(program, "distribute", "spread the tables over the nodes of Citus, by store", help).action(
    async (options: OutputOptions) => {
      if (readConfig().databaseUrl === undefined) throw withoutCitus(); // withOpenDatabase would create an embedded database
      const distributed = await withOpenDatabase(async (database, config) => {
        await requireCitus(database.client);
        await migrateIfNeeded(database, config, warn);
        return distribute(database.connection, warn);
      });
      const text = distributed.length === 0 ? "Nothing to distribute." : `Distributed ${distributed.join(", ")}.`;
      await print({ distributed }, text, options);
    },
  );
}
