import { stat } from "node:fs/promises";
import { type Command, Option, InvalidArgumentError } from "commander";
import { importCsv, importNdjson, languageOf } from "../../catalog/import/entryPoints/fileProducts.js";
import type { ErrorPolicy } from "../../files/rowChecks.js";
import type { ImportResult } from "../../catalog/import/importTypes.js";
import { exitStatus, problemTable } from "../terminal/failure.js";
import { printError, type OutputOptions, print, table } from "../terminal/output.js";
import { type ShowProgress, withProgress } from "../terminal/progress.js";
import { parseName, addCommand } from "../terminal/command.js";
import type { CsvResult } from "../../files/csv/csv.js";
import {
  addFormatOptions,
  describeNotes,
  describePreview,
  type FileFormatOptions,
  readFormatOptions,
  requireNoCsvOptions,
  readingReport,
} from "./import.format.js";
import { isNdjson, withInput } from "./import.input.js";
import { LineSet, openRejects } from "./failedRowsFile.js";
import { withStore } from "../runtime.js";
import type { RootDatabase } from "../../database/client.js";
import type { ImportMode } from "../../catalog/import/modes/mode.js";
import { fileBytes } from "../../files/csv/csvPieces.js";
import type { RowExplanation } from "../../files/formats/explain.js";
import { AppError } from "../../errors.js";
import { clip } from "../../lib/text.js";

interface ImportCommandOptions extends OutputOptions, FileFormatOptions, ModeCommandOptions {
  readonly errorPolicy: keyof typeof errorPolicies;
  readonly dryRun?: boolean;
  readonly site?: string;
  readonly rejects?: string;
  readonly explain?: number;
}

const errorPolicies = {
  "reject-all": "REJECT_ALL",
  "reject-failed": "REJECT_FAILED",
} as const satisfies Record<string, ErrorPolicy>;

const help = `
With --error-policy reject-failed, failed rows are listed and the others are stored; the exit status is then 3.
--rejects writes all failed rows to a file (CSV with its header). Correct the rows, and import that file.

Examples:
  npx vitrine import acme products.csv
  npx vitrine import acme products.csv --dry-run --error-policy reject-failed
  npx vitrine import acme products.csv --rejects rejected.csv
  npx vitrine import acme products.csv --mode replace --max-deletions 500
  npx vitrine import acme shopify.csv --url-template 'https://shop.example/products/{handle}' --dry-run
  gzip -dc products.csv.gz | npx vitrine import acme - --site acme-de`;

export function addImportCommand(program: Command): void {
  const description = "import products from a file of any size: all or none, unless --error-policy says otherwise";
  const added = addCommand(program, "import <store>", description, help).argument(
    "<file>",
    "CSV or a feed, or - for standard input; docs/formats.md lists what can be read",
  );
  addModeOptions(addFormatOptions(added))
    .option("--site <site>", "assign the products to this site", parseName)
    .addOption(
      new Option("--error-policy <policy>", "if rows fail, reject all rows or only those")
        .choices(Object.keys(errorPolicies))
        .default("reject-all"),
    )
    .addOption(
      new Option("--rejects <file>", "write failed rows to this file, and store the others").implies({
        errorPolicy: "reject-failed",
      }),
    )
    .option("--dry-run", "report what the import would do, and store nothing")
    .option(
      "--explain <line>",
      "print what each cell of the row on this line becomes, and why; store nothing",
      parseLine,
    )
    .action(importAndReport);
}

async function importAndReport(store: string, file: string, options: ImportCommandOptions, command: Command) {
  const { rejects, mode } = options;
  if (rejects !== undefined && options.errorPolicy === "reject-all") {
    command.error("--rejects needs --error-policy reject-failed: with reject-all, all rows are rejected.");
  }
  if (options.explain !== undefined) return explain({ store, file, line: options.explain }, options);
  const { result, read } = await withInput(file, (path) => importFile(store, path, options));
  const { message, imported, created, updated, failed, failures, deleted } = result;
  const counts = { imported, created, updated, ...(mode === "REPLACE" && { deleted }) };
  const listed = options.errorPolicy === "reject-failed" ? { ...counts, failed, failures } : counts;
  const report = readingReport(read, options.dryRun === true);
  const reported = { store, ...listed, ...(rejects !== undefined && { rejects }), ...report };
  const preview = options.dryRun === true && read !== undefined ? describePreview(read) : [];
  const stored = `${message} ${counts.created} new, ${counts.updated} ${mode === "PATCH" ? "changed" : "replaced"}.`;
  await print(reported, [stored, ...preview], options);
  if (failed === 0) return;
  if (options.json !== true) printError(describeFailures(result, rejects));
  process.exitCode = exitStatus.partly;
}

interface Imported {
  readonly result: ImportResult;
  readonly read: CsvResult | undefined;
}

async function importFile(store: string, file: string, options: ImportCommandOptions): Promise<Imported> {
  const { size } = await stat(file);
  const form = isNdjson(file) ? "ndjson" : "csv";
  if (form === "ndjson") requireNoCsvOptions(options);
  const fileFormat = await readFormatOptions(options);
  const isPatch = options.mode === "PATCH";
  const rejected =
    options.rejects === undefined
      ? undefined
      : await openRejects({ file, form, options: { ...fileFormat, isPatch } }, options.rejects);
  const acceptedLines = rejected && new LineSet();
  let read: CsvResult | undefined;
  const run = (db: RootDatabase, show: ShowProgress): Promise<ImportResult> => {
    const common = {
      site: { siteId: options.site },
      errorPolicy: errorPolicies[options.errorPolicy],
      dryRun: options.dryRun,
      mode: options.mode,
      maxDeletions: options.maxDeletions,
      onProgress: ({ bytesRead, rows }: ImportProgress) => show("importing", size, bytesRead, rows),
      onRead: (found: CsvResult) => void (read = found),
      acceptedLines,
      preview: options.dryRun,
    };
    if (form === "ndjson") return importNdjson(db, store, { file }, { ...common, isCommand: true });
    return importCsv(db, store, { file }, { ...common, pathPrefix: [], fileFormat });
  };
  try {
    const result = await withStore(store, (db) => withProgress("rows", (show) => run(db, show)));
    await rejected?.write(result.failed === 0 ? undefined : acceptedLines);
    return { result, read };
  } finally {
    rejected?.close();
    if (read !== undefined && options.json !== true) printError(describeNotes(read));
  }
}

interface ImportProgress {
  readonly bytesRead: number;
  readonly rows: number;
}

/** One line for each problem, then the number of rows that are not listed. */
function describeFailures({ failures, failed }: ImportResult, rejects: string | undefined): string[] {
  const problems = failures.flatMap((failure) => failure.problems);
  const more = failed - failures.length;
  const rest = more > 0 ? [`… and ${more} more rows`] : [];
  const file = rejects === undefined ? [] : [`The rows that failed are in ${rejects}.`];
  return [...problemTable(problems), ...rest, ...file].map((line) => `  ${line}`);
}

interface ModeCommandOptions {
  readonly mode: ImportMode;
  readonly maxDeletions?: number;
}

const modes: readonly ImportMode[] = ["UPSERT", "PATCH", "REPLACE"];

function addModeOptions(command: Command): Command {
  return command
    .option(
      "--mode <mode>",
      "upsert, patch (change only the file's columns) or replace (delete products that are not in the file)",
      parseMode,
      "UPSERT",
    )
    .option(
      "--max-deletions <count>",
      "with --mode replace: delete at most this many (default: a tenth or 10, at most half; none if the file is empty)",
      parseCount,
    );
}

function parseMode(text: string): ImportMode {
  const mode = modes.find((name) => name === text.toUpperCase());
  if (mode === undefined) throw new InvalidArgumentError(`Allowed choices are ${modes.join(", ").toLowerCase()}.`);
  return mode;
}

function parseCount(text: string): number {
  const count = Number(text);
  if (!/^\d+$/u.test(text) || !Number.isSafeInteger(count))
    throw new InvalidArgumentError("Must be a whole number, 0 or more.");
  return count;
}

function parseLine(text: string): number {
  if (!/^[1-9]\d{0,8}$/u.test(text)) throw new InvalidArgumentError("Must be the number of a line.");
  return Number(text);
}

/** Prints how one row of a file is read. @throws {AppError} BAD_REQUEST if no row starts on this line */
async function explain(
  { store, file, line }: { readonly store: string; readonly file: string; readonly line: number },
  options: OutputOptions & FileFormatOptions & Pick<ModeCommandOptions, "mode">,
): Promise<void> {
  if (isNdjson(file)) throw new AppError("BAD_REQUEST", "--explain is for CSV and feeds: NDJSON needs no conversion.");
  const { explainRow } = await import("../../files/formats/explain.js"); // on demand: its libraries take time to load
  const language = await withStore(store, (db) => languageOf(db, store));
  const fileFormat = { ...(await readFormatOptions(options)), ...language };
  const isPatch = options.mode === "PATCH";
  const found = await withInput(file, (path) => explainRow(() => fileBytes(path), line, { ...fileFormat, isPatch }));
  if (found === undefined) throw new AppError("BAD_REQUEST", `${file} has no row on line ${line}.`);
  await print(found, describeRow(found), options);
}

function describeRow({ line, format, cells, product, problems, notes, from }: RowExplanation): string[] {
  const rows = cells.map(({ column, cell, use, field, became }) => [
    clip(column),
    clip(cell),
    use ?? "not used",
    field === undefined ? "" : `${field} = ${clip(JSON.stringify(became ?? null))}`,
  ]);
  return [
    `The row on line ${line}, read as ${format}:`,
    ...table(["column", "cell", "used for", "became"], rows).map((text) => `  ${text}`),
    ...(from.length === 0
      ? []
      : [`It inherits empty cells from ${from.length === 1 ? "line" : "lines"} ${from.join(", ")}.`]),
    ...notes.map((note) => `Note: ${note}`),
    ...problems.map((problem) => `Problem: ${problem}`),
    ...(product === undefined
      ? ["It is not stored as a product."]
      : ["It becomes:", ...JSON.stringify(product, undefined, 2).split("\n")]),
  ];
}
