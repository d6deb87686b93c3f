import type { Command } from "commander";
import { pruneEvents } from "../../analytics/totals/prune.js";
import { pruneAllStores } from "../../analytics/totals/retention.js";
import { AppError } from "../../errors.js";
import { count } from "../../lib/text.js";
import { liveStreams, withDatabase, withStore } from "../runtime.js";
import { addCommand } from "../terminal/command.js";
import { parsePast } from "../terminal/duration.js";
import { withProgress } from "../terminal/progress.js";
import { parseName } from "../terminal/name.js";
import { type OutputOptions, print } from "../terminal/output.js";

const help = `
All totals stay, but those of archived shows can no longer be rebuilt from events. If the command is interrupted, run it again.

With --all-stores, the events of ended shows go too, as far as they occurred before the time. Their totals can still be rebuilt,
and returning viewers are known; such a show takes no more events from before that time. EVENT_RETENTION_DAYS has a server do it.

Examples:
  npx vitrine events prune acme --before 2026-01-01
  npx vitrine events prune acme spring-show --before 2026-06-30T12:00:00Z
  npx vitrine events prune --all-stores --before 2026-01-01`;

interface PruneOptions extends OutputOptions {
  readonly before: Date;
  readonly allStores?: boolean;
}

export function addPruneCommand(events: Command): void {
  const description = "remove the raw events of archived shows that ended before a time; their totals stay";
  addCommand(events, "prune", description, help)
    .argument("[store]", "its id", parseName)
    .argument("[lsid]", "id of the live stream (default: all of the store)", parseName)
    .option("--all-stores", "of all stores, and of ended shows too: events that occurred before the time")
    .requiredOption("--before <time>", "only shows that ended before, ISO 8601", parsePast)
    .action(async (store: string | undefined, lsId: string | undefined, options: PruneOptions) => {
      const { before, allStores = false } = options;
      if (allStores && store === undefined) return pruneAll(options);
      if (allStores || store === undefined) throw new AppError("BAD_REQUEST", "Give a store or --all-stores.");
      const result = await withStore(store, (db) =>
        withProgress("rows", (show) =>
          pruneEvents(db, store, {
            before,
            lsId,
            onProgress: ({ showsDone, showsTotal, rowsRemoved }) => show("pruning", showsTotal, showsDone, rowsRemoved),
          }),
        ),
      );
      const { shows, events: removed, viewerRows } = result;
      const text = `${removed} events of ${liveStreams(shows)} were removed, and ${viewerRows} rows about their viewers. Totals stay.`;
      await print({ store, ...result }, text, options);
    });
}

async function pruneAll(options: PruneOptions): Promise<void> {
  const result = await withDatabase(async (db) => {
    const total = await db.store.count();
    return withProgress("rows", (show) =>
      pruneAllStores(db, {
        before: options.before,
        onProgress: ({ stores, rowsRemoved }) => show("pruning", total, stores, rowsRemoved),
      }),
    );
  });
  const { shows, events, viewerRows, stores } = result;
  const of = `${liveStreams(shows)} of ${count(stores, "store")}`;
  const text = `${events} events of ${of} were removed, and ${viewerRows} rows about viewers. Totals stay.`;
  await print(result, text, options);
}
