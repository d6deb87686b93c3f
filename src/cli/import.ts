import { stat } from "node:fs/promises";
import { type Command, Option } from "commander";
import { requireStore } from "../access/store.js";
import { importCsv } from "../catalog/import/csv.js";
import type { ErrorPolicy } from "../catalog/reading/rowChecks.js";
import type { ImportResult } from "../catalog/import/result.js";
import { exitStatus, problemTable } from "./terminal/failure.js";
import { startProgress } from "./terminal/progress.js";
import { parseName } from "./terminal/name.js";
import { type OutputOptions, print } from "./terminal/output.js";
import { withDatabase } from "./runtime.js";

interface ImportCommandOptions extends OutputOptions {
  readonly errorPolicy: keyof typeof errorPolicies;
  readonly dryRun?: boolean;
}

const errorPolicies = {
  "reject-all": "REJECT_ALL",
  "reject-failed": "REJECT_FAILED",
} as const satisfies Record<string, ErrorPolicy>;

const help = `
With --error-policy reject-failed, rows that fail are listed and the others are stored; the exit status is then 3.

Examples:
  npx vitrine import acme products.csv
  npx vitrine import acme products.csv --dry-run --error-policy reject-failed`;

/** `vitrine import` */
export function addImportCommand(program: Command): void {
  program
    .command("import")
    .description("import products from a CSV file of any size: all or none, unless --error-policy says otherwise")
    .argument("<store>", "its id", parseName)
    .argument("<file>", "CSV with a header row; docs/catalog.md lists its columns")
    .addOption(
      new Option("--error-policy <policy>", "what is rejected when rows fail: all rows, or only those that fail")
        .choices(Object.keys(errorPolicies))
        .default("reject-all"),
    )
    .option("--dry-run", "report what the import would do, and store nothing")
    .option("--json", "print one JSON object")
    .addHelpText("after", help)
    .action(async (store: string, file: string, options: ImportCommandOptions) => {
      const result = await importFile(store, file, options);
      const { message, failed, failures, ...counts } = result;
      const reported = options.errorPolicy === "reject-failed" ? { ...counts, failed, failures } : counts;
      await print({ store, ...reported }, `${message} ${counts.created} new, ${counts.updated} replaced.`, options);
      if (failed === 0) return;
      if (options.json !== true) process.stderr.write(describeFailures(result));
      process.exitCode = exitStatus.partly;
    });
}

async function importFile(
  store: string,
  file: string,
  { errorPolicy, dryRun }: ImportCommandOptions,
): Promise<ImportResult> {
  const { size } = await stat(file);
  return withDatabase(async (db) => {
    await requireStore(db, store);
    const progress = startProgress({ label: "importing", total: size, items: "rows" });
    try {
      return await importCsv(
        db,
        store,
        { file },
        {
          pathPrefix: [],
          errorPolicy: errorPolicies[errorPolicy],
          dryRun,
          onProgress: ({ bytesRead, rows }) => progress.update(bytesRead, rows),
        },
      );
    } finally {
      progress.stop();
    }
  });
}

/** A line for each problem, and the number of rows that are not listed. */
function describeFailures({ failures, failed }: ImportResult): string {
  const problems = failures.flatMap((failure) => failure.problems);
  const more = failed - failures.length;
  const rest = more > 0 ? [`… and ${more} more rows`] : [];
  return [...problemTable(problems), ...rest].map((line) => `  ${line}\n`).join("");
}
