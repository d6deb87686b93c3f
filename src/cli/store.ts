import type { Command } from "commander";
import { createStore } from "../access/store.js";
import { parseName } from "./terminal/name.js";
import { type OutputOptions, print } from "./terminal/output.js";
import { withDatabase } from "./runtime.js";

/** `vitrine store …` */
export function addStoreCommands(program: Command): void {
  program
    .command("store")
    .description("stores, to which everything else belongs")
    .addHelpText("after", "\nExample:\n  npx vitrine store create acme --name 'Acme Fashion'")
    .command("create")
    .description("create a store")
    .argument("<store>", "its id: letters, digits, dots, dashes, underscores", parseName)
    .option("--name <name>", "its name (default: the id)", parseName)
    .option("--json", "print one JSON object")
    .addHelpText("after", "\nExample:\n  npx vitrine store create acme --name 'Acme Fashion'")
    .action(async (id: string, options: OutputOptions & { name?: string }) => {
      const result = await withDatabase((db) => createStore(db, id, options.name ?? id));
      await print(
        result,
        `Created store ${result.store}. Issue a token for it: npx vitrine token issue ${result.store}`,
        options,
      );
    });
}
