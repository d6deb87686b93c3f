import type { Command } from "commander";
import { addSite } from "../access/site.js";
import { parseName } from "./terminal/name.js";
import { type OutputOptions, print } from "./terminal/output.js";
import { withDatabase } from "./runtime.js";

/** `vitrine site …` */
export function addSiteCommands(program: Command): void {
  program
    .command("site")
    .description("sites on which a store sells")
    .addHelpText("after", "\nExample:\n  npx vitrine site add acme acme-de --type SHOPIFY")
    .command("add")
    .description("add a site to a store")
    .argument("<store>", "its id", parseName)
    .argument("<site>", "its id", parseName)
    .requiredOption("--type <type>", "its type, as callers name it in siteType", parseName)
    .option("--json", "print one JSON object")
    .addHelpText("after", "\nExample:\n  npx vitrine site add acme acme-de --type SHOPIFY")
    .action(async (store: string, id: string, options: OutputOptions & { type: string }) => {
      const result = await withDatabase((db) => addSite(db, store, id, options.type));
      await print(result, `Added site ${result.site} of type ${result.type} to store ${result.store}.`, options);
    });
}
