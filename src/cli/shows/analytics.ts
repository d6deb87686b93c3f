import type { Command } from "commander";
import { rebuildAnalytics } from "../../analytics/totals/rebuild.js";
import { liveStreams, withRelay, withStore } from "../runtime.js";
import { addCommand, addGroup } from "../terminal/command.js";
import { parseName } from "../terminal/name.js";
import { type OutputOptions, print } from "../terminal/output.js";
import { addExportFiguresCommand } from "./figures.export.js";

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
