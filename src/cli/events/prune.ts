import type { Command } from "commander";
import { requireStore } from "../../access/store.js";
import { pruneEvents } from "../../analytics/totals/prune.js";
import { parsePast } from "../terminal/duration.js";
import { type Progress, startProgress } from "../terminal/progress.js";
import { parseName } from "../terminal/name.js";
import { type OutputOptions, print } from "../terminal/output.js";
import { liveStreams, withDatabase } from "../runtime.js";

const help = `
All totals stay, but those of these shows can no longer be rebuilt from events. If the command is interrupted, run it again.

Examples:
  npx vitrine events prune acme --before 2026-01-01
  npx vitrine events prune acme spring-show --before 2026-06-30T12:00:00Z`;

/** `vitrine events prune` */
export function addPruneCommand(events: Command): void {
  events
    .command("prune")
    .description("remove the raw events of archived shows that ended before a time; their totals stay")
    .argument("<store>", "its id", parseName)
    .argument("[lsid]", "id of the live stream (default: all of the store)", parseName)
    .requiredOption("--before <time>", "only shows that ended before, ISO 8601", parsePast)
    .option("--json", "print one JSON object")
    .addHelpText("after", help)
    .action(async (store: string, lsId: string | undefined, options: OutputOptions & { before: Date }) => {
      const { before } = options;
      const result = await withDatabase(async (db) => {
        await requireStore(db, store);
        let bar: Progress | undefined;
        try {
          return await pruneEvents(db, store, {
            before,
            lsId,
            onProgress({ showsDone, showsTotal, rowsRemoved }) {
              bar ??= startProgress({ label: "pruning", total: showsTotal, items: "rows" });
              bar.update(showsDone, rowsRemoved);
            },
          });
        } finally {
          bar?.stop();
        }
      });
      const { shows, events: count, viewerRows } = result;
      const text = `${count} events of ${liveStreams(shows)} were removed, and ${viewerRows} rows about their viewers. Totals stay.`;
      await print({ store, ...result }, text, options);
    });
}
