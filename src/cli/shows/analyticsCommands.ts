import { type Command, Option } from "commander";
import { rebuildAnalytics } from "../../figures/totals/rebuild.js";
import { liveStreams, withRelay, withStore } from "../runtime.js";
import { addCommand, addGroup, parseName, parseTime } from "../terminal/command.js";
import { type OutputOptions, print } from "../terminal/output.js";
import { exportMoments, exportShows, type ShowExportFormat } from "../../figures/store/showExport.js";
import { AppError } from "../../errors.js";
import { count } from "../../lib/text.js";
import { fileFormatOf, printWritten, standardOutput, writingTo } from "../terminal/outputFile.js";

const help = `
Servers may keep recording: new events of a show wait until its totals are rebuilt.
A show with pruned events keeps its totals: the command refuses it if you name it, and skips it otherwise.

Examples:
  npx vitrine analytics rebuild acme
  npx vitrine analytics rebuild acme spring-show`;

const examples = `
Examples:
  npx vitrine analytics export acme shows.csv
  npx vitrine analytics rebuild acme spring-show`;

export function addAnalyticsCommands(program: Command): void {
  const analytics = addGroup(program, "analytics", "analytics of live streams", examples);
  addExportFiguresCommand(analytics);
  const rebuilding = "recompute the totals of a show, or of all shows of a store, from the recorded events";
  addCommand(analytics, "rebuild <store>", rebuilding, help)
    .argument("[lsid]", "id of the live stream (default: all of the store)", parseName)
    .action(async (store: string, lsId: string | undefined, options: OutputOptions) => {
      const { rebuilt, pruned } = await withStore(store, async (db, config, database) => {
        const result = await rebuildAnalytics(db, store, lsId);
        await withRelay(database, config, async (changed) => result.rebuilt.forEach((id) => changed(store, id)));
        return result;
      });
      const skipped = pruned.length === 0 ? "" : ` Skipped: ${liveStreams(pruned)}, whose events were pruned.`;
      const text = `The analytics of ${liveStreams(rebuilt)} were rebuilt.${skipped}`;
      await print({ store, rebuilt, pruned }, text, options);
    });
}

const exportHelp = `
The format follows the file extension: .ndjson and .jsonl are NDJSON, all others CSV; a final .gz compresses. With --json and
without a file, the summary goes to standard error.

Examples:
  npx vitrine analytics export acme shows.csv
  npx vitrine analytics export acme moments.csv --moments
  npx vitrine analytics export acme --from 2026-01-01T00:00:00Z --until 2027-01-01T00:00:00Z --format ndjson > 2026.ndjson`;

interface ExportOptions extends OutputOptions {
  readonly from?: Date;
  readonly until?: Date;
  readonly format?: ShowExportFormat;
  readonly moments?: boolean;
}

function addExportFiguresCommand(analytics: Command): void {
  const description = "write the figures of shows to a CSV or NDJSON file: a row for each show";
  addCommand(analytics, "export <store>", description, exportHelp)
    .argument("[file]", "to create or replace, or - for standard output", parseName, standardOutput)
    .option("--from <time>", "only shows that started at this time or later", parseTime)
    .option("--until <time>", "only shows that started before this time", parseTime)
    .addOption(new Option("--format <format>", "overrides the file extension").choices(["csv", "ndjson"]))
    .option("--moments", "a row for each moment of these shows; NDJSON of shows has them anyway")
    .action(async (store: string, file: string, { from, until, moments = false, ...options }: ExportOptions) => {
      if (from !== undefined && until !== undefined && until < from) {
        throw new AppError("BAD_REQUEST", "--until must be at or after --from.");
      }
      const format = options.format ?? fileFormatOf(file);
      if (moments && format !== "csv") {
        throw new AppError("BAD_REQUEST", "--moments writes CSV: in NDJSON, each show has its moments.");
      }
      let rows = 0;
      const wanted = { ...(from && { from }), ...(until && { until }), onProgress: (read: number) => (rows = read) };
      await writingTo(file, (write) =>
        withStore(store, (db) =>
          write(moments ? exportMoments(db, store, wanted) : exportShows(db, store, format, wanted)),
        ),
      );
      const text = `The figures of ${count(rows, moments ? "moment" : "live stream")} were written to ${file}.`;
      await printWritten(file, { store, file, format, [moments ? "moments" : "shows"]: rows }, text, options);
    });
}
