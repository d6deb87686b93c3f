import { stat } from "node:fs/promises";
import type { Command } from "commander";
import { requireStore } from "../access/store.js";
import { importCsv } from "../catalog/product.csv.import.js";
import { startProgress } from "./progress.js";
import { type OutputOptions, print, withDatabase } from "./runtime.js";

/** `vitrine import` */
export function addImportCommand(program: Command): void {
  program
    .command("import")
    .description("import products from a CSV file of any size: all of them, or none")
    .argument("<store>", "its id")
    .argument("<file>", "CSV with a header row; docs/catalog.md tells its columns")
    .option("--json", "print one JSON object")
    .addHelpText("after", "\nExample:\n  npx vitrine import acme products.csv")
    .action(async (store: string, file: string, options: OutputOptions) => {
      const { size } = await stat(file);
      const result = await withDatabase(async (db) => {
        await requireStore(db, store);
        const progress = startProgress({ label: "importing", total: size, items: "rows" });
        try {
          return await importCsv(
            db,
            store,
            { file },
            { pathPrefix: [], onProgress: ({ bytesRead, rows }) => progress.update(bytesRead, rows) },
          );
        } finally {
          progress.stop();
        }
      });
      const { message, ...counts } = result;
      print({ store, ...counts }, `${message} ${counts.created} new, ${counts.updated} replaced.`, options);
    });
}
