import { type Command, Option } from "commander";
import { exportProducts, type ExportOptions } from "../../catalog/export/export.js";
import type { ExportFormat } from "../../catalog/export/export.sql.js";
import { count } from "../../lib/text.js";
import { withStore } from "../runtime.js";
import { addCommand, parseName, parseTime } from "../terminal/command.js";
import { type OutputOptions, print } from "../terminal/output.js";
import { fileFormatOf, standardOutput, writingTo } from "../terminal/outputFile.js";
import { withProgress } from "../terminal/progress.js";

interface ExportCommandOptions extends OutputOptions {
  readonly format?: ExportFormat;
  readonly available?: "true" | "false";
  readonly site?: string;
  readonly updatedSince?: Date;
}

const help = `
The format follows the file extension: .ndjson and .jsonl are NDJSON, all others CSV; a final .gz compresses. The file appears only
when it is complete.

Examples:
  npx vitrine export acme products.csv.gz
  npx vitrine export acme --format ndjson | wc -l
  npx vitrine export acme changed.csv --updated-since 2026-05-04T00:00:00Z`;

export function addExportCommand(program: Command): void {
  const description = "write a consistent snapshot of a store's products to a CSV or NDJSON file that import reads";
  addCommand(program, "export <store>", description, help)
    .argument("[file]", "to create or replace, or - for standard output", parseName, standardOutput)
    .addOption(new Option("--format <format>", "overrides the file extension").choices(["csv", "ndjson"]))
    .addOption(
      new Option("--available <value>", "only products that can, or cannot, be bought").choices(["true", "false"]),
    )
    .option("--site <site>", "only products that are sold on this site", parseName)
    .option("--updated-since <time>", "only products stored at this time or later", parseTime)
    .action(async (store: string, file: string, options: ExportCommandOptions, command: Command) => {
      if (file === standardOutput && options.json === true)
        command.error("--json needs a file: standard output has the products.");
      const format = options.format ?? fileFormatOf(file);
      const products = await exportTo(store, file, format, options);
      if (file === standardOutput) return;
      const written = count(products, "product was", "products were");
      await print({ store, file, format, products }, `${written} written to ${file}.`, options);
    });
}

function exportTo(
  store: string,
  file: string,
  format: ExportFormat,
  { available, site, updatedSince }: ExportCommandOptions,
): Promise<number> {
  return writingTo(file, (write) =>
    withStore(store, async (db) => {
      const total = await db.product.count({ where: { storeId: store } });
      let products = 0;
      await withProgress("products", (show) => {
        const options: ExportOptions = {
          available: available === undefined ? undefined : available === "true",
          site: { siteId: site },
          updatedSince,
          onProgress(read) {
            products = read;
            if (file !== standardOutput) show("exporting", total, read, read);
          },
        };
        return write(exportProducts(db, store, format, options));
      });
      return products;
    }),
  );
}
