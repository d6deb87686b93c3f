import { type Command, Option } from "commander";
import { exportShows, type ShowExportFormat } from "../../analytics/insights/showExport.js";
import { AppError } from "../../errors.js";
import { count } from "../../lib/text.js";
import { withStore } from "../runtime.js";
import { addCommand } from "../terminal/command.js";
import { parseName } from "../terminal/name.js";
import type { OutputOptions } from "../terminal/output.js";
import { fileFormatOf, printWritten, standardOutput, writingTo } from "../terminal/outputStream.js";
import { parseTime } from "../terminal/duration.js";

const help = `
The format follows the file extension: .ndjson and .jsonl are NDJSON, all others CSV; a final .gz compresses. With --json and
without a file, the summary goes to standard error.

Examples:
  npx vitrine analytics export acme shows.csv
  npx vitrine analytics export acme --from 2026-01-01T00:00:00Z --until 2027-01-01T00:00:00Z --format ndjson > 2026.ndjson`;

interface ExportOptions extends OutputOptions {
  readonly from?: Date;
  readonly until?: Date;
  readonly format?: ShowExportFormat;
}

export function addExportFiguresCommand(analytics: Command): void {
  const description = "write the figures of shows to a CSV or NDJSON file: a row for each show";
  addCommand(analytics, "export <store>", description, help)
    .argument("[file]", "to create or replace, or - for standard output", parseName, standardOutput)
    .option("--from <time>", "only shows that started at this time or later", parseTime)
    .option("--until <time>", "only shows that started before this time", parseTime)
    .addOption(new Option("--format <format>", "overrides the file extension").choices(["csv", "ndjson"]))
    .action(async (store: string, file: string, { from, until, ...options }: ExportOptions) => {
      if (from !== undefined && until !== undefined && until < from) {
        throw new AppError("BAD_REQUEST", "--until must be at or after --from.");
      }
      const format = options.format ?? fileFormatOf(file);
      const range = { ...(from && { from }), ...(until && { until }) };
      let shows = 0;
      await writingTo(file, (write) =>
        withStore(store, (db) =>
          write(exportShows(db, store, format, { ...range, onProgress: (read) => (shows = read) })),
        ),
      );
      const text = `The figures of ${count(shows, "live stream")} were written to ${file}.`;
      await printWritten(file, { store, file, format, shows }, text, options);
    });
}
