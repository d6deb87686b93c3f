import type { Command } from "commander";
import { requireStore } from "../access/store.js";
import { rebuildAnalytics } from "../analytics/totals/rebuild.js";
import { addExportFiguresCommand } from "./analytics/export.js";
import { parseName } from "./terminal/name.js";
import { type OutputOptions, print } from "./terminal/output.js";
import { liveStreams, openRelay, withDatabase } from "./runtime.js";

const help = `
Events may arrive meanwhile: those of a show wait until its totals are rebuilt.
Shows whose events were pruned keep their totals: a named one is refused, others are skipped.

Examples:
  npx vitrine analytics rebuild acme
  npx vitrine analytics rebuild acme spring-show`;

const examples = `
Examples:
  npx vitrine analytics export acme shows.csv
  npx vitrine analytics rebuild acme spring-show`;

export function addAnalyticsCommands(program: Command): void {
  const analytics = program
    .command("analytics")
    .description("analytics of live streams")
    .addHelpText("after", examples);
  addExportFiguresCommand(analytics);

  analytics
    .command("rebuild")
    .description("recompute the totals of a show, or of all shows of a store, from the recorded events")
    .argument("<store>", "its id", parseName)
    .argument("[lsid]", "id of the live stream (default: all of the store)", parseName)
    .option("--json", "print one JSON object")
    .addHelpText("after", help)
    .action(async (store: string, lsId: string | undefined, options: OutputOptions) => {
      const { rebuilt, pruned } = await withDatabase(async (db, config, database) => {
        await requireStore(db, store);
        const result = await rebuildAnalytics(db, store, lsId);
        const relay = await openRelay(database, config);
        for (const id of result.rebuilt) relay?.send(store, id);
        await relay?.close();
        return result;
      });
      const skipped = pruned.length === 0 ? "" : ` Skipped: ${liveStreams(pruned)}, whose events were pruned.`;
      await print(
        { store, rebuilt, pruned },
        `The analytics of ${liveStreams(rebuilt)} were rebuilt.${skipped}`,
        options,
      );
    });
}
