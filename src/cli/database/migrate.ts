import type { Command } from "commander";
import { migrate } from "../../database/migrations/migrate.js";
import { addCommand } from "../terminal/command.js";
import { type OutputOptions, print } from "../terminal/output.js";
import { warn, withOpenDatabase } from "../runtime.js";

export function addMigrateCommand(program: Command): void {
  const help = "\nExample:\n  DATABASE_URL=postgres://… npx vitrine migrate";
  addCommand(program, "migrate", "apply the migrations that the database does not have yet", help).action(
    async (options: OutputOptions) => {
      const applied = await withOpenDatabase(({ connection }) => migrate(connection, warn));
      await print({ applied }, applied.length === 0 ? "Nothing to apply." : `Applied ${applied.join(", ")}.`, options);
    },
  );
}
